# The workload: SpamAssassin judges mails, and prints for each of them its name,
# its score, how many rules it hit, and the verdict.
#
#   perl scan.pl            all mails in $PREFIX/mails
#   perl scan.pl 6          every sixth of them, by size
#
# What happens before the first mail can be judged is a phase of its own: load
# (Perl compiles the modules), construct (an object), compile (the rules become
# Perl code), then scan. In a trial each phase is marked, and each mail is an op
# with its latency; docs/reference/marks.md explains that.
#
# Where several processes execute at once they divide the mails among them.

use strict;
use warnings;
use Time::HiRes qw(clock_gettime CLOCK_MONOTONIC);

my $prefix = $ENV{PREFIX} or die "scan.pl: PREFIX is not set: where this Perl, the rules and the mails are\n";
my $every  = @ARGV ? $ARGV[0] : 1;
open my $marks, '>&=', $ENV{BAKEOFF_MARKS} // 2 or die "scan.pl: BAKEOFF_MARKS: $!\n";

# Dates in mails are compared with dates in mails; that must not depend on where we are.
$ENV{TZ} = 'UTC';

phase('load');
require File::Temp;
require Mail::SpamAssassin;

phase('construct');
my $state = File::Temp->newdir();       # below $TMPDIR; gone when we are
my $judge = Mail::SpamAssassin->new(
    {
        rules_filename      => "$prefix/share/spamassassin",
        site_rules_filename => "$prefix/etc/spamassassin",
        userstate_dir       => "$state",
        userprefs_filename  => '/dev/null',
        dont_copy_prefs     => 1,
        local_tests_only    => 1,
    }
);

phase('compile');
$judge->compile_now(0, 1);

phase('read');
my @mails = share(chosen("$prefix/mails"));
my %text  = map { $_ => slurp("$prefix/mails/$_") } @mails;

phase('scan');
my @lines;
for my $name (@mails) {
    my $began  = clock_gettime(CLOCK_MONOTONIC);
    my $mail   = $judge->parse($text{$name});
    my $status = $judge->check($mail);
    my @hits   = split /,/, $status->get_names_of_tests_hit();
    push @lines, sprintf "%s %.3f %d %s\n", $name, $status->get_score(), scalar @hits,
      $status->is_spam() ? 'spam' : 'ham';
    $status->finish();
    $mail->finish();
    printf {$marks} "op %.9f\n", clock_gettime(CLOCK_MONOTONIC) - $began;
}

phase('close');
$judge->finish();
print @lines;

# A phase begins, now.
sub phase {
    my ($name) = @_;
    printf {$marks} "phase %s @%.9f\n", $name, clock_gettime(CLOCK_MONOTONIC);
    return;
}

# The names of the mails in $folder, the largest first; or of every Nth, beginning
# in the middle of the first N, so that a few mails are like all of them.
sub chosen {
    my ($folder) = @_;
    opendir my $handle, $folder or die "scan.pl: $folder: $!\n";
    my %size  = map { $_ => -s "$folder/$_" } grep { !/^\./ } readdir $handle;
    my @names = sort { $size{$b} <=> $size{$a} || $a cmp $b } keys %size;
    return @names[grep { $_ % $every == int(($every - 1) / 2) } 0 .. $#names];
}

# Our share of these mails, in the order of their names. Each mail goes to the
# process that has the least to do so far; a mail's work is its size, and something
# for the mail itself. Every process comes to the same conclusion by itself.
sub share {
    my @names = @_;
    my ($own, $processes) = map { $ENV{$_} // 1 } qw(BAKEOFF_PROCESS BAKEOFF_PROCESSES);
    my @total = (0) x $processes;
    my @share;
    for my $name (@names) {
        my ($least) = sort { $total[$a] <=> $total[$b] || $a <=> $b } 0 .. $#total;
        $total[$least] += 4_000 + -s "$prefix/mails/$name";
        push @share, $name if $least + 1 == $own;
    }
    return sort @share;
}

sub slurp {
    my ($path) = @_;
    open my $file, '<:raw', $path or die "scan.pl: $path: $!\n";
    local $/ = undef;
    return scalar <$file>;
}
