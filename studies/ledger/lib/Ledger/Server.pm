package Ledger::Server;

# The daemon's loop: accept, fork, and on with the next; it waits for children as
# they end. It uses as few modules as it can, because every child inherits what it
# loads: Ledger::Preload, or the child itself, loads the modules of a child.

use v5.36;
use Socket;

use constant {
    WNOHANG       => 1,     # of <sys/wait.h>; it is not worth loading POSIX
    MOST_CHILDREN => 64,    # at once; others wait to be accepted
};

my %children;

# Returns after a signal to end (TERM or INT), when the last child has ended.
sub serve (%option) {
    my $listener = listener($option{port});
    my $end      = 0;
    local $SIG{TERM} = local $SIG{INT} = sub { $end = 1 };
    local $SIG{CHLD} = \&reap;
    local $| = 1;
    print "ledgerd: listening on 127.0.0.1:$option{port}, preload $option{preload}\n";

    my $serial = 0;
    until ($end) {
        select undef, undef, undef, 0.01 while keys %children >= MOST_CHILDREN && !$end;
        accept my $socket, $listener or next;    # a signal interrupts it
        start($listener, $socket, ++$serial, \%option);
    }
    close $listener;
    select undef, undef, undef, 0.01 while keys %children;
    return;
}

sub listener ($port) {
    socket my $listener, PF_INET, SOCK_STREAM, 0 or die "ledgerd: socket: $!\n";
    setsockopt $listener, SOL_SOCKET, SO_REUSEADDR, 1 or die "ledgerd: SO_REUSEADDR: $!\n";
    bind $listener, sockaddr_in($port, INADDR_LOOPBACK) or die "ledgerd: 127.0.0.1:$port: $!\n";
    listen $listener, SOMAXCONN or die "ledgerd: listen: $!\n";
    return $listener;
}

sub start ($listener, $socket, $serial, $option) {
    # The child must be in the books of children before it can be waited for.
    local $SIG{CHLD} = 'DEFAULT';
    my $child = fork;
    if (!defined $child) {
        print {*STDERR} "ledgerd: fork: $!\n";
    }
    elsif ($child) {
        $children{$child} = 1;
    }
    else {
        $SIG{$_} = 'DEFAULT' for qw(TERM INT CHLD);
        close $listener;
        require Ledger::Child;
        my $done = eval { Ledger::Child::serve($socket, $serial, @$option{qw(key log)}); 1 };
        print {*STDERR} "ledgerd: child $$: $@" unless $done;
        exit !$done;
    }
    reap();    # what ended while nobody listened
    return;
}

sub reap (@) {
    local ($!, $?);
    while ((my $child = waitpid -1, WNOHANG) > 0) {
        delete $children{$child};
    }
    return;
}

1;
