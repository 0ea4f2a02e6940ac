package Ledger::Log;

# The daemon's log: a line with time, process and level, appended in one write.
# $LOG is the least level that is written: warn (refusals and faults) or trace
# (each step of each request too). A child opens the file when it has something
# to say.

use v5.36;
use POSIX qw(strftime);
use Time::HiRes qw(time);

my %RANK = (trace => 0, warn => 1);

sub new ($class, $path, $level) {
    die "LOG is '$level': it must be warn or trace\n" unless exists $RANK{$level};
    return bless { path => $path, least => $RANK{$level} }, $class;
}

sub trace ($self, $text) { return $self->_line(trace => $text) }
sub warn  ($self, $text) { return $self->_line(warn  => $text) }

sub _line ($self, $level, $text) {
    return if $RANK{$level} < $self->{least};
    my $file = $self->{file} //= _opened($self->{path});
    my $now  = time;
    my $when = strftime('%Y-%m-%dT%H:%M:%S', gmtime $now) . sprintf '.%03dZ', 1000 * ($now - int $now);
    $file->print("$when [$$] $level: $text\n");
    return;
}

sub _opened ($path) {
    open my $file, '>>:encoding(UTF-8)', $path or die "the log $path: $!\n";
    $file->autoflush(1);
    return $file;
}

1;
