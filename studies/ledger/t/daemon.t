# The daemon as its users see it: the same replies whatever was preloaded, error
# replies, what the log says, and that what is refused writes nothing.

use v5.36;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../lib", "$FindBin::Bin/lib";
use Ledger::Envelope qw(seal);
use Ledger::Wire;
use Site qw(client job logged spawned statement unbalanced);
use Test::More;

for my $preload ('none', 'database+xml', 'all') {
    my $daemon = spawned(undef, PRELOAD => $preload);
    my $client = client($daemon);
    my %job    = job('quote');
    my @price  = map { $client->call(%job, action => $_)->{price} } qw(quote reserve charge);
    is("@price", '86400 86400 86400', "preload $preload: quote, reserve, charge");
}
is(logged(), '', 'nothing of it is worth a warning');

my $daemon = spawned();
my $client = client($daemon);
my $before = statement();

sub refused ($reply, $code, $what) {
    is($reply->{status}, 'refused', "$what is refused");
    is($reply->{code} // '', $code, "… as $code");
    like(logged(), qr/warn: refused, \Q$code\E: \Q$reply->{message}\E\n\z/, '… and logged');
    return;
}

# A message whose head may be wrong; the sender says that it has ended.
sub raw ($bytes) {
    my $socket = $client->connected;
    syswrite $socket, $bytes;
    shutdown $socket, 1;
    return $client->reply($socket);
}

my $good = seal($client->request(job('charge')), 'bakeoff');
my %sent = job('charge');
refused(client($daemon)->send_bytes(seal($client->request(job('charge')), 'wrong')), 'signature', 'another key');
refused(client($daemon)->send_bytes($good =~ s/3600/36/r), 'signature', 'a body that was changed');
refused($client->send_bytes('<a>'),                      'malformed', 'no XML');
refused($client->call(job('charge', project => 'x')),    'unknown',   'an unknown project');
refused($client->call(job('charge', user => "zoe\x{308}")), 'malformed', 'a name that only looks right');
refused($client->call(job('charge', processors => 100_000, seconds => 10_000_000)), 'balance', 'an insufficient balance');
refused($client->call(job('charge', $_ => -1)),          'malformed', "negative $_") for qw(processors seconds);
refused($client->call(job('charge', seconds => '1e3')),  'malformed', 'a number that is not whole');
refused($client->call(job('charge', time => '2010-01-01T00:00:00Z')), 'malformed', 'an old request');
refused($client->call(job('charge', time => '2010-99-01T00:00:00Z')), 'malformed', 'a month that is none');
refused($client->call(job('charge', colour => 'red')),   'malformed', 'an unknown field');
refused($client->call(job('embezzle')),                  'malformed', 'an unknown action');
refused(raw('GET / HTTP/1.0' . "\r\n\r\n"),              'malformed', 'another first line');
refused(raw(''),                                         'malformed', 'an empty request');
refused(raw(Ledger::Wire::REQUEST . "\r\nContent-Length: 99\r\n\r\nshort"),     'malformed', 'less than it says');
refused(raw(Ledger::Wire::REQUEST . "\r\nContent-Length: 999999999\r\n\r\n"),   'huge', 'a huge content');
refused(raw(Ledger::Wire::REQUEST . "\r\nX: " . 'x' x 20_000),                  'huge', 'a huge head');
is_deeply(statement(), $before, 'nothing was written');

my $once = seal($client->request(%sent), 'bakeoff');
is($client->send_bytes($once)->{status}, 'success', 'a request is taken');
$before = statement();
refused($client->send_bytes($once), 'replay', 'the same again');
is_deeply(statement(), $before, 'nothing was written');
is(unbalanced(), '', 'the books balance');

my $slow   = spawned(undef, LEDGER_PATIENCE => 1);
my $silent = client($slow)->connected;
refused(client($slow)->reply($silent), 'malformed', 'a client that says nothing');

my $traced = spawned(undef, LOG => 'trace');
client($traced)->call(job('quote'));
like(logged(), qr/trace: quote by zo\\N\{LATIN SMALL LETTER E WITH DIAERESIS\} for/, 'trace tells each step, in ASCII');

done_testing;
