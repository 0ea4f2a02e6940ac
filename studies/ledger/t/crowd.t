# Fifty clients at once: all are served, and the books balance.

use v5.36;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../lib", "$FindBin::Bin/lib";
use Site qw(client job logged spawned statement unbalanced);
use Test::More;

use constant CLIENTS => 50;

my $daemon = spawned();
pipe my $wait, my $go or die "pipe: $!\n";
my @clients;
for my $number (1 .. CLIENTS) {
    my $pid = fork // die "fork: $!\n";
    if ($pid) { push @clients, $pid; next }
    close $go;
    readline $wait;    # until everybody is there
    my $client = client($daemon);
    my %job    = job('quote', job => "crowd-$number");
    my $good   = eval { grep({ $client->call(%job, action => $_)->{status} eq 'success' } qw(quote reserve charge)) == 3 };
    print {*STDERR} $@ if $@;
    POSIX::_exit(!$good);
}
close $wait;
close $go;
my $served = grep { waitpid($_, 0) && $? == 0 } @clients;

is($served, CLIENTS, 'every client had its three operations');
is(statement()->{transactions}, 3 * CLIENTS, 'as many transactions');
is(statement()->{jobs},         CLIENTS,     'as many jobs');
is(statement()->{reservations}, 0,           'no reservation is left');
is(unbalanced(), '', 'the books balance');
is(logged(),     '', 'nobody was refused');

done_testing;
