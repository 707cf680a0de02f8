# Three workers that tell each other what they were given, each with a supervisor.
#
#	supervisor.pl serve [careless] ME PEER...
#	supervisor.pl client WORKER...
#
# A supervisor starts a worker and writes down its process id. When the worker has ended it
# waits for a while and starts another one. A supervisor that was itself started again goes
# on with the worker that is written down. That is not its child, so it has to look whether
# there still is such a process. A careless one waits for it as for a child, and takes it
# that a process of which it hears no end is running.
#
# The client gives numbers to the workers in turn. In the end each worker must have all of them.
use strict;
use warnings;
use lib '/spec';
use POSIX ':sys_wait_h';
use Words;

use constant { LOOK => 0.25, BACKOFF => 1.5, GOSSIP => 0.3, NUMBERS => 15, PATIENCE => 12 };

my ($role, @names) = @ARGV;

sub supervise {
	my ($careless, @worker) = @_;
	my ($pid) = load('worker.pid');
	my $again = 0;
	while (1) {
		if ($pid) {
			if (waitpid($pid, WNOHANG) == $pid || !$careless && !kill 0, $pid) {
				print "worker has ended\n";
				($pid, $again) = (0, now() + BACKOFF);
			}
		} elsif (now() >= $again) {
			defined($pid = fork) or fail("fork: $!");
			worker(@worker) if !$pid;
			print "worker starts\n";
			save('worker.pid', "$pid\n");
		}
		select undef, undef, undef, LOOK;
	}
}

sub worker {
	my ($me, @peers) = @_;
	begin($me);
	my %have = map { $_ => 1 } load('numbers');
	my $add = sub {
		my @new = grep { !$have{$_} } @_ or return;
		@have{@new} = (1) x @new;
		save('numbers', join(' ', sort keys %have) . "\n");
	};
	my $due = now();
	while (1) {
		my ($from, $word, @numbers) = hear($due);
		if (!defined $from) {
			$due = now() + GOSSIP;
			say($_, 'have', sort keys %have) for @peers;
		} elsif ($word eq 'have') {
			$add->(@numbers);
		} elsif ($word eq 'add') {
			$add->(@numbers);
			say($from, 'added', @numbers);
		} elsif ($word eq 'count') {
			say($from, 'counted', scalar keys %have);
		}
	}
}

sub client {
	begin('client');
	my $end;
	my $ask = sub {
		my ($to, @words) = @_;
		say($to, @words);
		my $until = now() + 0.4;
		while (my ($from, @heard) = hear($until)) {
			return @heard if $from eq $to;
		}
		fail("$to does not come back") if now() > $end;
		return;
	};
	for my $i (1 .. NUMBERS) {
		$end = now() + PATIENCE;
		1 while ((($ask->($names[$i % @names], "add", $i))[1] // 0) != $i);
		select undef, undef, undef, 0.1;
	}
	$end = now() + PATIENCE;
	for my $w (@names) {
		while ((($ask->($w, 'count'))[1] // 0) != NUMBERS) {
			fail("$w does not hear of all") if now() > $end;
			select undef, undef, undef, 0.2;
		}
	}
	print "all have all\n";
}

if ($role eq 'client') {
	client();
} else {
	my $careless = $names[0] eq 'careless';
	shift @names if $careless;
	supervise($careless, @names);
}
