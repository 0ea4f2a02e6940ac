# The books by themselves: prices, reservations, several allocations, refusals.

use v5.36;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../lib", "$FindBin::Bin/lib";
use Ledger::Books;
use Site qw(job statement unbalanced);
use Test::More;

my $books  = Ledger::Books->open;
my $number = 0;
sub request (@fields) { return { job(@fields), nonce => sprintf '%032x', ++$number } }
sub code_of ($action, $request) { return eval { $books->$action($request); 'taken' } // (ref $@ ? $@->{code} : $@) }

my $price = 3 * 8 * 3600;
is($books->quote(request('quote'))->{price}, $price, 'a quote is rate by processors by seconds');
is(statement()->{debited}, 0, '… and debits nothing');

my $job = request('reserve');
is($books->reserve($job)->{price}, $price, 'a reservation has the same price');
is(statement()->{held}, $price, '… which is held');
is(code_of(reserve => { %$job, nonce => 'a' x 32 }), 'duplicate', 'a job is reserved once');
is($books->charge({ %$job, action => 'charge', nonce => 'b' x 32, seconds => 1800 })->{price}, $price / 2, 'a charge is for what was used');
is(statement()->{$_}, 0, "… $_ is 0 then") for qw(held reservations);
is(statement()->{debited}, $price / 2, '… and the allocation is debited');
is(code_of(charge => { %$job, action => 'charge', nonce => 'c' x 32 }), 'duplicate', 'a job is charged once');
is(code_of(quote  => { request('quote')->%*, nonce => 'b' x 32 }), 'replay', 'a nonce is taken once');

# The first allocation has 1,000,000,000 units: the rest is of the second.
my $large = request('charge', processors => 1000, seconds => 400_000);
is($books->charge($large)->{price}, 1_200_000_000, 'a price above the first allocation');
my @left = Ledger::Books->open->_lock_allocations({ project => 'größe' });
is($left[0][1], 0, '… uses that up');
is($left[1][1], 1_000_000_000_000 - 200_000_000 - $price / 2, '… and takes the rest of the second');

my $transactions = statement()->{transactions};
is(code_of(charge => request('charge', processors => 100_000, seconds => 10_000_000)), 'balance', 'too expensive');
is(code_of(quote => request('quote', project => 'x')),   'unknown', 'no such project');
is(code_of(quote => request('quote', user => 'x')),      'unknown', 'no such user');
is(code_of(quote => request('quote', user => 'мария')), 'unknown', 'no member');
is(code_of(quote => request('quote', machine => 'x')),   'unknown', 'no such machine');
is(statement()->{transactions}, $transactions, 'a refused operation is not recorded');
is(unbalanced(), '', 'the books balance');

done_testing;
