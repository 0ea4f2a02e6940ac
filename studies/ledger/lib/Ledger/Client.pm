package Ledger::Client;

# One request to the daemon, and its reply. Every call is a connection of its own,
# as with the daemon's other users. It repeats nothing.

use v5.36;
use Ledger::Envelope qw(seal unseal);
use Ledger::Wire qw(read_message write_message);
use POSIX qw(strftime);
use Socket;

sub new ($class, %option) {
    return bless { key => $ENV{LEDGER_KEY} // 'bakeoff', %option }, $class;
}

# The reply's fields: status, and what comes with it.
sub call ($self, %fields) {
    return $self->send_bytes(seal($self->request(%fields), $self->{key}));
}

# The fields of a request, with time and nonce if they are not given. No two nonces
# are equal, of whichever client of whichever process.
sub request ($self, %fields) {
    state $number = 0;
    my $nonce = sprintf '%08x%08x%016x', time & 0xffff_ffff, $$, ++$number;
    return { time => strftime('%Y-%m-%dT%H:%M:%SZ', gmtime), nonce => $nonce, %fields };
}

sub send_bytes ($self, $content) {
    my $socket = $self->connected;
    write_message($socket, Ledger::Wire::REQUEST, $content);
    return $self->reply($socket);
}

sub reply ($self, $socket) {
    my $reply = eval { unseal(read_message($socket, Ledger::Wire::REPLY), $self->{key}) };
    return $reply if $reply;
    my $why = ref $@ ? $@->{message} : $@;
    die "no reply of 127.0.0.1:$self->{port}: $why\n";
}

sub connected ($self) {
    socket my $socket, PF_INET, SOCK_STREAM, 0 or die "socket: $!\n";
    connect $socket, sockaddr_in($self->{port}, INADDR_LOOPBACK) or die "127.0.0.1:$self->{port}: $!\n";
    return $socket;
}

1;
