# The workload: reads from a pipe that does not block, finds nothing, asks `$!`
# why, and reads again once there is something; half of the time plainly, half of
# the time under `use locale`. Each half is a phase, and has its own metric.
#
# Under a locale, Perl once looked for a translation of the message whenever
# `$!` was asked for, as strace showed. Whether it still does is what the run
# factor `locale` is for.
#
# `$!` is asked right after the read: a write that succeeds clears it. The numbers
# are those of Linux, because Fcntl, which has the names, is an extension and is
# not built. The first argument says how often; the default takes about a second.
# Where every system call is looked at, a thousandth is enough.

my $times = $ENV{BAKEOFF_TRACED} ? 100 : @ARGV ? $ARGV[0] : 100_000;

open(my $marks, '>&=', $ENV{BAKEOFF_MARKS} // 2) or die "the marks: $!";
pipe(my $reader, my $writer) or die "pipe: $!";
fcntl($reader, 4, 2048) or die "fcntl F_SETFL O_NONBLOCK: $!";

my ($nothing, $read, $message) = (0, 0, '');

syswrite $marks, "phase plain\n";
for (1 .. $times) {
    my $got = sysread $reader, my $byte, 1;
    if (!defined $got && $!{EAGAIN}) {
        $message = "$!";
        $nothing++;
    }
    syswrite $writer, '.';
    $read += sysread $reader, $byte, 1;
}

syswrite $marks, "phase use-locale\n";
{
    use locale;
    for (1 .. $times) {
        my $got = sysread $reader, my $byte, 1;
        if (!defined $got && $!{EAGAIN}) {
            $message = "$!";
            $nothing++;
        }
        syswrite $writer, '.';
        $read += sysread $reader, $byte, 1;
    }
}

die "$nothing times nothing, $read bytes: both should be 2 x $times" if $nothing != 2 * $times || $read != $nothing;
print "nothing every time: $message\n";
