# Lines over TCP and in UDP datagrams, with what Debian's perl-base has.
package Lines;
use strict;
use warnings;
use Socket;
use Exporter 'import';
our @EXPORT = qw(fail address serve dial say hear ask);

$| = 1;
my %rest;    # by descriptor: what came of the next line

sub fail {
	print STDERR "@_\n";
	exit 1;
}

sub address {
	my ($host, $port) = @_;
	return pack_sockaddr_in($port, inet_aton($host) || fail("no node $host"));
}

# serve calls a function with each connection and line, and another with each new connection.
sub serve {
	my ($port, $said, $met) = @_;
	socket(my $server, PF_INET, SOCK_STREAM, 0) or fail("socket: $!");
	setsockopt($server, SOL_SOCKET, SO_REUSEADDR, 1);
	bind($server, pack_sockaddr_in($port, INADDR_ANY)) && listen($server, 8) or fail("bind: $!");
	my @conns;
	while (1) {
		my $ready = '';
		vec($ready, fileno $_, 1) = 1 for $server, @conns;
		select($ready, undef, undef, undef);
		for my $c (grep { vec($ready, fileno $_, 1) } @conns) {
			my @lines = arrived($c);
			$said->($c, $_) for @lines;
		}
		@conns = grep { defined fileno $_ } @conns;
		if (vec($ready, fileno $server, 1)) {
			accept(my $c, $server) or fail("accept: $!");
			$rest{$c} = '';
			push @conns, $c;
			$met->($c) if $met;
		}
	}
}

# arrived reads what has arrived and returns whole lines.
sub arrived {
	my ($c) = @_;
	if (!sysread $c, $rest{$c}, 65536, length $rest{$c}) {
		close $c;
		return;
	}
	my @lines = split /\n/, $rest{$c}, -1;
	$rest{$c} = pop @lines;
	return @lines;
}

# dial tries until there is a server.
sub dial {
	my ($host, $port) = @_;
	while (1) {
		socket(my $c, PF_INET, SOCK_STREAM, 0) or fail("socket: $!");
		if (connect $c, address($host, $port)) {
			$rest{$c} = '';
			return $c;
		}
		close $c;
		select undef, undef, undef, 0.1;
	}
}

sub say {
	my ($c, $line) = @_;
	syswrite $c, "$line\n";
}

my %heard;    # by descriptor: lines that nobody has taken

sub hear {
	my ($c) = @_;
	push @{ $heard{$c} }, arrived($c) while !@{ $heard{$c} || [] };
	return shift @{ $heard{$c} };
}

sub ask {
	my ($c, $line) = @_;
	Lines::say($c, $line);
	return hear($c);
}

1;
