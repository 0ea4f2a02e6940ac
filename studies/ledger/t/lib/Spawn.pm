package Spawn;

# A daemon as a child of this process, on a free port, until the object is gone:
# for tests.

use v5.36;
use Cwd qw(abs_path);
use File::Basename qw(dirname);
use POSIX ();
use Socket;

my $PROGRAM = abs_path(dirname(__FILE__) . '/../../ledgerd.pl');

# %environment is added to ours. $code instead of the program is for tests.
sub new ($class, $code = undef, %environment) {
    my $port = free_port();
    pipe my $from, my $to or die "pipe: $!\n";
    my $pid = fork // die "fork: $!\n";
    if (!$pid) {
        %ENV = (%ENV, %environment, PORT_ledger => $port);
        open STDOUT, '>&', $to or die "STDOUT: $!\n";
        close $from;
        if ($code) { $code->($port); POSIX::_exit(0) }
        exec $^X, $PROGRAM or die "$PROGRAM: $!\n";
    }
    close $to;
    my $self = bless { pid => $pid, owner => $$, port => $port, from => $from }, $class;
    my $line = readline($from) // '';
    die "the daemon did not start\n" unless $line =~ /listening/;
    return $self;
}

sub port ($self) { return $self->{port} }
sub pid  ($self) { return $self->{pid} }

sub stop ($self) {
    my $pid = delete $self->{pid} or return;
    kill TERM => $pid;
    local $?;
    waitpid $pid, 0;
    return;
}

sub DESTROY ($self) {
    $self->stop if $self->{owner} == $$;
    return;
}

sub free_port () {
    socket my $socket, PF_INET, SOCK_STREAM, 0 or die "socket: $!\n";
    bind $socket, sockaddr_in(0, INADDR_LOOPBACK) or die "bind: $!\n";
    my ($port) = sockaddr_in(getsockname $socket);
    return $port;
}

1;
