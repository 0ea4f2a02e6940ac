# kill -9 in mid-charge: between debit and commit, and at random moments. The books
# balance afterwards, and the daemon serves the next.

use v5.36;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../lib", "$FindBin::Bin/lib";
use Ledger::Books;
use Ledger::Child;
use Ledger::Server;
use Site qw(client job spawned statement unbalanced);
use Test::More;
use Time::HiRes qw(sleep);

# A daemon of the same code, whose child is killed when it has debited and written the job.
my $doomed = spawned(sub ($port) {
    no warnings 'redefine';
    *Ledger::Books::_record = sub { kill KILL => $$; sleep 10 };
    Ledger::Server::serve(port => $port, key => 'bakeoff', log => "$ENV{TMPDIR}/ledger.log", preload => 'all');
});
my %job = job('charge');
is(client(spawned())->call(%job, action => 'reserve')->{status}, 'success', 'a job is reserved');
my $before = statement();
ok(!eval { client($doomed)->call(%job); 1 }, 'killed before the commit: no reply');
is_deeply(statement(), $before, '… nothing of the charge is in the books, the reservation is');
ok(!eval { client($doomed)->call(job('charge')); 1 } && $@ =~ /no reply/, '… the daemon accepts the next');

my $daemon = spawned();
is(client($daemon)->call(%job)->{status}, 'success', '… and the charge can be sent again');

# At random: whatever was replied is in the books; what was not may be, whole.
my ($seed, $replied, $killed) = ($ENV{SEED} // 178, 0, 0);
srand $seed;
$before = statement();
for (1 .. 60) {
    my $client = client($daemon);
    my $sender = fork // die "fork: $!\n";
    if (!$sender) {
        my $ok = eval { $client->call(job('charge', job => "random-$_"))->{status} eq 'success' };
        POSIX::_exit(!$ok);
    }
    sleep rand 0.05;
    kill KILL => children_of($daemon->pid);
    waitpid $sender, 0;
    $? ? $killed++ : $replied++;
}
my $jobs = statement()->{jobs} - $before->{jobs};
ok($killed > 0, "some of 60 were killed before they replied: $killed (SEED=$seed)");
ok($jobs >= $replied && $jobs <= 60, "all $replied that were replied are among the $jobs in the books");
is(unbalanced(), '', 'the books balance');
is(client($daemon)->call(job('charge'))->{status}, 'success', 'the daemon serves');

sub children_of ($pid) {
    open my $list, '<', "/proc/$pid/task/$pid/children" or die "the children of $pid: $!\n";
    return split ' ', readline($list) // '';
}

done_testing;
