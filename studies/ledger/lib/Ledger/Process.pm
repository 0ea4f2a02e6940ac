package Ledger::Process;

# The numbers of a child and its daemon, from /proc: CPU time and page faults of
# the daemon and of all children that it has waited for, and the memory that is
# private to the child because it wrote to it.

use v5.36;
use POSIX ();

sub told () {
    my (undef, undef, undef, undef, undef, undef, undef, $own, $waited_for, $major, $their_major, @ticks) =
      split ' ', (slurp('/proc/' . getppid . '/stat') =~ s/.*\) //sr);
    my ($dirty) = slurp('/proc/self/smaps_rollup') =~ /^Private_Dirty: *([0-9]+) kB$/m;
    my $cpu = 0;
    $cpu += $_ for @ticks[0 .. 3];
    return {
        daemon        => getppid,
        cpu           => $cpu / POSIX::sysconf(POSIX::_SC_CLK_TCK()),
        faults        => $own + $waited_for + $major + $their_major,
        private_dirty => 1024 * ($dirty // die "/proc/self/smaps_rollup has no Private_Dirty\n"),
    };
}

sub slurp ($path) {
    open my $file, '<', $path or die "$path: $!\n";
    local $/ = undef;
    return scalar readline $file;
}

1;
