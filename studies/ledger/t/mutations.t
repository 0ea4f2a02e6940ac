# A thousand requests in which something was changed at random: none is taken that
# says something else than what was signed, and the daemon serves on.

use v5.36;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../lib", "$FindBin::Bin/lib";
use Ledger::Envelope qw(seal);
use Ledger::Wire;
use Site qw(client job spawned statement unbalanced);
use Test::More;

use constant REQUESTS => 1000;

my $seed = srand($ENV{SEED} // 178);
my $daemon = spawned();
my $client = client($daemon);
my %count  = (success => 0, refused => 0, closed => 0);
$SIG{PIPE} = 'IGNORE';
for (1 .. REQUESTS) {
    my $content = seal($client->request(job('charge')), 'bakeoff');
    my $message = Ledger::Wire::REQUEST . "\r\nContent-Length: " . length($content) . "\r\n\r\n$content";
    my $socket  = $client->connected;
    syswrite $socket, mutated($message);
    shutdown $socket, 1;
    my $reply = eval { $client->reply($socket) };
    $count{ $reply ? $reply->{status} : 'closed' }++;
}
diag join ', ', map { "$_ $count{$_}" } sort keys %count;

is($count{closed}, 0, "every one has a reply (SEED=$seed)");
ok($count{refused} > REQUESTS / 2, 'most are refused');
my $is = statement();
is($is->{transactions}, $count{success}, 'as many transactions as successes');
is($is->{charged}, 86_400 * $count{success}, 'none for another price than the signed one');
is(unbalanced(), '', 'the books balance');
is($client->call(job('charge'))->{status}, 'success', 'the daemon serves');

sub mutated ($message) {
    my $kind = int rand 5;
    my $at   = int rand length $message;
    my $size = 1 + int rand 20;
    if    ($kind == 0) { substr $message, $at, 1, chr int rand 256 }
    elsif ($kind == 1) { substr $message, $at, $size, '' }
    elsif ($kind == 2) { substr $message, $at, 0, join '', map { chr int rand 256 } 1 .. $size }
    elsif ($kind == 3) { substr $message, $at, 0, substr $message, int rand length $message, $size }
    else               { $message = substr $message, 0, $at }
    return $message;
}

done_testing;
