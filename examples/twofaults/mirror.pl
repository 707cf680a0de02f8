# Registers on two servers that mirror each other.
#
#	mirror.pl server [careless] ME PEER
#	mirror.pl client
#
# A server acknowledges a write when its mirror has it too, or when the mirror has not answered
# for a while; then it notes on its disk that it is alone. A server that starts asks its mirror
# what that has. When both start, the one with more writes goes on. A server that was
# not alone waits for its mirror as long as it takes, since that may have gone on alone. A careless
# one goes on alone after two seconds.
#
# The client reads what it wrote a while ago before it writes again.
use strict;
use warnings;
use lib '/spec';
use Words;

use constant { AGAIN => 0.1, GONE => 0.35, ALONE => 2, WRITES => 20 };

my ($role, @names) = @ARGV;

sub server {
	my $careless = $names[0] eq 'careless';
	my ($me, $peer) = @names[-2, -1];
	begin($me);
	my ($was, $number, $value) = load('state');
	($was, $number, $value) = ('together', 0, 'none') if !defined $value;
	# starting, together or alone; what the mirror is known to have, and since when it is silent.
	my ($mode, $known, $since) = ('starting', -1, now());
	my @asks;    # who waits for what: [client, number]
	my $become = sub {
		my $to = shift;
		print "$me is $to with $number\n" if $to ne $mode;
		($mode, $since) = ($to, now());
		save('state', "$to $number $value\n");
	};
	my $answer = sub {
		return if $mode eq 'starting' || $mode eq 'together' && $known < $number;
		say($_->[0], 'done', $_->[1], $value) for @asks;
		@asks = ();
	};
	my $due = now();
	while (1) {
		if (my ($from, $word, $n, $v) = hear($due)) {
			if ($word eq 'write' && $mode ne 'starting') {
				if ($n > $number) {
					($number, $value) = ($n, $v);
					save('state', "$mode $number $value\n");
					$since = now() if !@asks;
				}
				@asks = ([$from, $n]);
				say($peer, 'copy', $number, $value) if $mode eq 'together';
			} elsif ($word eq 'read' && $mode ne 'starting') {
				say($from, 'value', $n, $number, $value);
			} elsif ($word eq 'starting' && $mode ne 'starting') {
				$known = -1;
				$become->('together');
				say($peer, 'copy', $number, $value);
			} elsif ($word eq 'starting' && ($n < $number || $n == $number && $me lt $peer)) {
				$become->('together');
				say($peer, 'copy', $number, $value);
			} elsif ($word eq 'starting') {
				say($peer, 'starting', $number) if $n > $number;
			} elsif ($word eq 'copy') {
				next if $n < $number;
				($number, $value, $known) = ($n, $v, $n);
				$become->('together');
				say($peer, 'copied', $n);
			} elsif ($word eq 'copied') {
				$known = $n if $n > $known;
			}
			$answer->();
			next;
		}
		$due = now() + AGAIN;
		if ($mode eq 'starting') {
			if (now() > $since + ALONE && ($was eq 'alone' || $careless)) {
				$become->('alone');
			} else {
				say($peer, 'starting', $number);
			}
		} elsif ($mode eq 'together' && $known < $number) {
			now() > $since + GONE ? $become->('alone') : say($peer, 'copy', $number, $value);
		}
		$answer->();
	}
}

sub client {
	begin('client');
	my ($at, @servers) = (0, 'a', 'b');
	my $ask = sub {
		my ($answer, @words) = @_;
		while (1) {
			say($servers[$at], @words);
			my $until = now() + 0.6;
			while (my @heard = hear($until)) {
				return @heard if $heard[1] eq $answer && $heard[2] == $words[1];
			}
			$at = 1 - $at;
		}
	};
	for my $i (1 .. WRITES) {
		$ask->('done', 'write', $i, "v$i");
		my $until = now() + 0.2;
		1 while hear($until);
		my ($from, undef, undef, undef, $got) = $ask->('value', 'read', $i);
		fail("wrote v$i and read $got at $from") if $got ne "v$i";
	}
	print "read what was written\n";
}

$role eq 'server' ? server() : client();
