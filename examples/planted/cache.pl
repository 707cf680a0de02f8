# A cache in front of a database, a reader that fills it and a writer that clears it.
#
#	cache.pl db
#	cache.pl cache [careless]
#	cache.pl reader
#	cache.pl writer
#
# The reader asks the cache, and when that has nothing the database, and then fills the cache.
# The writer changes the database and then clears the cache. What was read before the change may
# come to the cache after it was cleared, and stay there. So who finds nothing is given
# a ticket, clearing makes it void, and the cache takes nothing without one. A careless one takes
# everything. When both are done the writer compares.
use strict;
use warnings;
use lib '/spec';
use Lines;

my ($role, $careless) = @ARGV;
my ($value, $ticket, $tickets) = ('', 0, 0);

if ($role eq 'db') {
	$value = 'old';
	serve(7000, sub {
		my ($c, $line) = @_;
		my ($word, $new) = split ' ', $line;
		$value = $new if $word eq 'write';
		Lines::say($c, $value);
	});
} elsif ($role eq 'cache') {
	serve(7001, sub {
		my ($c, $line) = @_;
		my ($word, $new, $by) = split ' ', $line;
		if ($word eq 'get') {
			return Lines::say($c, "hit $value") if $value ne '';
			$ticket = ++$tickets if !$ticket;
			return Lines::say($c, "miss $ticket");
		}
		if ($word eq 'clear') {
			($value, $ticket) = ('', 0);
		} elsif ($careless || $ticket && $by == $ticket) {
			($value, $ticket) = ($new, 0);
		}
		Lines::say($c, 'ok');
	});
} elsif ($role eq 'reader') {
	my ($db, $cache, $writer) = (dial('db', 7000), dial('cache', 7001), dial('writer', 7002));
	for my $round (1 .. 3) {
		my ($hit, $what) = split ' ', ask($cache, 'get');
		if ($hit eq 'miss') {
			my $read = ask($db, 'read');
			ask($cache, "fill $read $what");
		}
		select undef, undef, undef, 0.025;
	}
	Lines::say($writer, 'done');
	print "read\n";
} else {
	my ($db, $cache) = (dial('db', 7000), dial('cache', 7001));
	# The reader's connection comes last, so that it begins when all are there.
	my $written = 0;
	serve(7002, sub {
		my ($hit, $what) = split ' ', ask($cache, 'get');
		my $read = ask($db, 'read');
		fail("the cache has $what, the database $read") if $hit eq 'hit' && $what ne $read;
		print "the same\n";
		exit 0;
	}, sub {
		return if $written++;
		ask($db, 'write new');
		ask($cache, 'clear');
	});
}
