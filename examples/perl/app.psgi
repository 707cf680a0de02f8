# Answers with the path that was asked for.
use strict;
use warnings;
use lib '.';
use Words;

sub {
    my $env = shift;
    return [200, ['Content-Type' => 'text/plain'], [Words::answer($env->{PATH_INFO})]];
};
