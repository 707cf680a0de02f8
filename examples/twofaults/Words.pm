# Words in datagrams, each with its sender's name before them, and files. For Perl, with what
# Debian's perl-base has.
package Words;
use strict;
use warnings;
use Socket;
use POSIX ();
use Exporter 'import';
our @EXPORT = qw(begin now say hear save load fail);

$| = 1;
my ($me, $s, %peers);

sub fail {
	print STDERR "@_\n";
	exit 1;
}

sub begin {
	$me = shift;
	socket($s, PF_INET, SOCK_DGRAM, 0) && bind($s, pack_sockaddr_in(7000, INADDR_ANY))
		or fail("socket: $!");
}

# now is the time in seconds of a clock that is never set.
sub now {
	my $t = pack 'qq';
	syscall(228, 1, $t) == 0 or fail("clock: $!");    # clock_gettime, CLOCK_MONOTONIC
	my ($s, $ns) = unpack 'qq', $t;
	return $s + $ns / 1e9;
}

sub say {
	my ($to, @words) = @_;
	$peers{$to} ||= pack_sockaddr_in(7000, inet_aton($to) || fail("no node $to"));
	send $s, "$me @words", 0, $peers{$to};
}

# hear returns a sender and its words, or nothing when none have come by a time.
sub hear {
	my $left = shift() - now();
	my $ready = '';
	vec($ready, fileno $s, 1) = 1;
	select($ready, undef, undef, $left > 0 ? $left : 0) > 0 or return;
	defined recv($s, my $line, 65536, 0) or return;
	return split ' ', $line;
}

# save replaces a file durably.
sub save {
	my ($name, $text) = @_;
	open my $f, '>', "$name.new" or fail("$name.new: $!");
	syswrite($f, $text) == length $text or fail("$name.new: $!");
	syscall(74, fileno $f) == 0 or fail("fsync: $!");
	close $f;
	rename "$name.new", $name or fail("$name: $!");
}

# load returns the words of a file, none when there is no file.
sub load {
	open my $f, '<', shift or return;
	return map { split } <$f>;
}

1;
