package Words;
use strict;
use warnings;

sub answer { return "hello from $_[0]\n" }

1;
