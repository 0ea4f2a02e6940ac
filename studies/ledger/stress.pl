# The stress client: for each job of a range one quote, one reservation and one
# charge, all jobs mixed, one operation after the other.
#
#   perl stress.pl START END             jobs START to END of the daemon on $PORT_ledger
#   perl stress.pl START END фон мария   for another project, as another user
#
# It prints the number of operations and their total, which are the same for the
# same range: START seeds the order. It prints the times to the standard error:
# average, maximum and minimum, then percentiles. In a trial it marks each
# operation; and from the daemon's own numbers in a statement before and one after,
# it computes CPU time and page faults of a request, and the private memory of a
# child.

use v5.36;
use FindBin;
use lib "$FindBin::Bin/lib";
use Encode qw(decode);
use Ledger::Client;
use List::Util qw(max min sum0);
use POSIX ();
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my ($first, $last, $project, $user) = map { decode('UTF-8', $_) } @ARGV;
die "usage: stress.pl START END [PROJECT USER]\n" unless @ARGV >= 2 && $first =~ /\A\d+\z/a && $last =~ /\A\d+\z/a && $first <= $last;
my %who = (project => $project // "gr\x{f6}\x{df}e", user => $user // "zo\x{eb}");

my $client = Ledger::Client->new(port => $ENV{PORT_ledger} // 7112);

my (%taken, %price);
my $before = statement();
operate(@$_) for shuffled($first .. $last);
my $after = statement();
tell_counts();
tell_times();
tell_marks() if $ENV{BAKEOFF_MARKS};

# The operations in a random order, in which those of one job have theirs: [name, job], …
sub shuffled (@jobs) {
    srand $first;
    my %left = map { $_ => [qw(quote reserve charge)] } @jobs;
    my @order;
    while (@jobs) {
        my $at = int rand @jobs;
        push @order, [shift @{ $left{ $jobs[$at] } }, $jobs[$at]];
        splice @jobs, $at, 1 unless @{ $left{ $jobs[$at] } };
    }
    return @order;
}

# A job's size follows from its number; its name is new every time.
sub operate ($name, $job) {
    state $began_at = time;
    my %job = (
        machine    => $job % 3 ? 'cluster-1' : 'cluster-2',
        processors => 1 + $job % 64,
        seconds    => 60 * (1 + $job * 7 % 600),
        job        => "$began_at-$$-$job",
    );
    $job{seconds} -= 30 if $name eq 'charge';    # it has taken a little less than was asked for
    my $began = clock_gettime(CLOCK_MONOTONIC);
    my $reply = $client->call(action => $name, %who, %job);
    push @{ $taken{$name} }, clock_gettime(CLOCK_MONOTONIC) - $began;
    succeed("$name of job $job", $reply);
    $price{$name} += $reply->{price};
    return;
}

sub statement () {
    return succeed(statement => $client->call(action => 'statement', %who));
}

sub succeed ($what, $reply) {
    return $reply if $reply->{status} eq 'success';
    die "stress.pl: $what was refused, $reply->{code}: $reply->{message}\n";
}

sub tell_counts () {
    printf "%s: %d operations, %d units\n", $_, scalar @{ $taken{$_} }, $price{$_} for sort keys %taken;
    return;
}

sub tell_times () {
    for my $name (sort keys %taken) {
        my @times = sort { $a <=> $b } @{ $taken{$name} };
        printf {*STDERR} "%-8s average %.6f max %.6f min %.6f", $name, sum0(@times) / @times, max(@times), min(@times);
        printf {*STDERR} ' p%s %.6f', $_, $times[max(0, POSIX::ceil($_ / 100 * @times) - 1)] for 50, 90, 99;
        print  {*STDERR} "\n";
    }
    return;
}

sub tell_marks () {
    open my $marks, '>&=', $ENV{BAKEOFF_MARKS} or die "stress.pl: BAKEOFF_MARKS: $!\n";
    for my $name (sort keys %taken) {
        printf {$marks} "op $name %.9f\n", $_ for @{ $taken{$name} };
    }
    # The second statement's own child has not been waited for, the first one's has.
    my $requests = $after->{serial} - $before->{serial};
    printf {$marks} "value request_cpu %.9f s\n",  ($after->{cpu} - $before->{cpu}) / $requests;
    printf {$marks} "value request_faults %.3f\n", ($after->{faults} - $before->{faults}) / $requests;
    print  {$marks} "value served $requests\n";
    print  {$marks} "value private_dirty $after->{private_dirty} B\n";
    close $marks or die "stress.pl: marks: $!\n";
    return;
}
