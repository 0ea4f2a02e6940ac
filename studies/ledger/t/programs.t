# The stress client and the oracle as a trial executes them; and that the oracle
# notices what it is there for.

use v5.36;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../lib", "$FindBin::Bin/lib";
use Site qw(client job spawned);
use Test::More;

my $study  = "$FindBin::Bin/..";
my $daemon = spawned();
$ENV{PORT_ledger} = $daemon->port;

sub program ($line) { return scalar qx($^X $study/$line 2>&1) }

open my $file, '<', "$study/few.out" or die "few.out: $!\n";
my @expected = readline $file;
my $printed  = program('stress.pl 1 4');
ok(index($printed, join '', @expected) >= 0, 'the client prints what is expected');
like($printed, qr/^\Q$_\E +average [\d.]+ max [\d.]+ min [\d.]+ p50 [\d.]+ p90 [\d.]+ p99 [\d.]+$/m, "… and how long each $_ took")
  for qw(quote reserve charge);
is(program('audit.pl 12'), '', 'the oracle is content');
is($?, 0, '… and succeeds');

like(program('audit.pl 13'), qr/transactions and operations sent differ: 12 and 13/, 'an operation is missing');
isnt($?, 0, '… and it fails');

my $handle = Ledger::Books->open->{handle};
$handle->do('update jobs set price = price + 1 where job = (select min(job) from jobs)');
like(program('audit.pl 12'), qr/debited and charged differ/, 'a charge that nobody paid');
$handle->do('update jobs set price = price - 1 where job = (select min(job) from jobs)');

client($daemon)->call(job('reserve'));
like(program('audit.pl 13'), qr/reservations left, and none differ: 1 and 0/, 'a reservation is left');
$handle->do('update reservation_allocations set amount = amount + 1');
like(program('audit.pl 13'), qr/held and reserved differ/, 'more is held than was reserved');

like(program('stress.pl 5 1'), qr/usage:/, 'a range that is none');

done_testing;
