# An account on a server, and a client that repeats what was not answered in time, over UDP.
#
#	retry.pl server [careless]
#	retry.pl client
#
# Requests are numbered. The server does not do again what it has done. A careless one knows
# only the last number, and takes an old request that comes late for a new one.
use strict;
use warnings;
use lib '/spec';
use Lines;
use Socket;

my ($role, $careless) = @ARGV;
socket(my $s, PF_INET, SOCK_DGRAM, 0) or fail("socket: $!");

if ($role eq 'server') {
	bind($s, pack_sockaddr_in(7000, INADDR_ANY)) or fail("bind: $!");
	my ($balance, $last) = (0, 0);
	while (1) {
		my $from = recv($s, my $line, 100, 0);
		my ($word, $number, $amount) = split ' ', $line;
		if ($careless ? $number != $last : $number > $last) {
			($balance, $last) = ($balance + $amount, $number);
		}
		send($s, "$number $balance", 0, $from);
	}
}

my ($to, $sum) = (address('server', 7000), 0);
select undef, undef, undef, 0.02;
for my $number (1 .. 5) {
	my ($done, $balance) = (0, 0);
	$sum += 10 * $number;
	until ($done == $number) {
		send($s, "deposit $number " . 10 * $number, 0, $to);
		# An answer to an earlier request is not waited for again.
		my $ready = '';
		vec($ready, fileno $s, 1) = 1;
		while (select my $r = $ready, undef, undef, 0.1) {
			recv($s, my $line, 100, 0);
			($done, $balance) = split ' ', $line;
			last if $done == $number;
		}
	}
	fail("deposited $sum, and there are $balance") if $balance != $sum;
	select undef, undef, undef, 0.015;
}
print "deposited $sum\n";
