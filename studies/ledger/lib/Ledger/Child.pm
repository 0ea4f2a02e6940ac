package Ledger::Child;

# What a child does: it reads one request, opens the books, does what was asked,
# replies. A refusal is a reply, and a line in the log; so is a fault of ours,
# without telling strangers what it was.

use v5.36;
use Ledger::Books;
use Ledger::Envelope qw(seal unseal);
use Ledger::Log;
use Ledger::Name qw(checked described);
use Ledger::Process;
use Ledger::Refusal qw(refuse);
use Ledger::Wire qw(read_message write_message);
use Time::Local qw(timegm_modern);

use constant {
    PATIENCE => $ENV{LEDGER_PATIENCE} // 10,    # seconds in which a request must have come
    OLDEST   => 300,                            # seconds that a request may be old, or ahead of us
};

my %MOST   = (processors => 100_000, seconds => 10_000_000);
my %ACTION = map { $_ => Ledger::Books->can($_) } qw(quote reserve charge statement);

# $serial is how many connections there have been.
sub serve ($socket, $serial, $key, $log_path) {
    my $log   = Ledger::Log->new($log_path, $ENV{LOG} // 'warn');
    my $reply = eval { answer($socket, $serial, $key, $log) } // excuse($@, $log);
    write_message($socket, Ledger::Wire::REPLY, seal($reply, $key));
    $log->trace("replied $reply->{status}");
    shutdown $socket, 1;
    # Closing a socket that has unread bytes takes the reply back: read some, not for long.
    local $SIG{ALRM} = sub { exit 0 };
    alarm 1;
    for (1 .. 64) { last unless sysread $socket, my $ignored, 65_536 }
    return;
}

sub answer ($socket, $serial, $key, $log) {
    local $SIG{ALRM} = sub { refuse(malformed => 'the request did not come in time') };
    alarm PATIENCE;
    my $content = read_message($socket, Ledger::Wire::REQUEST);
    alarm 0;

    my $request = valid(unseal($content, $key));
    $log->trace(described("$request->{action} by $request->{user} for $request->{project}, job $request->{job}"));
    my $books = Ledger::Books->open;
    $log->trace('the books are open');
    my $reply = $ACTION{ $request->{action} }->($books, $request);
    $log->trace(join ' ', map { "$_=$reply->{$_}" } sort keys %$reply);
    %$reply = (%$reply, %{ Ledger::Process::told() }, serial => $serial)
      if $request->{action} eq 'statement';
    return { %$reply, status => 'success', nonce => $request->{nonce} };
}

sub excuse ($why, $log) {
    if (ref $why && $why->isa('Ledger::Refusal')) {
        $log->warn(described("refused, $why->{code}: $why->{message}"));
        return { status => 'refused', code => $why->{code}, message => $why->{message} };
    }
    $log->warn(described("fault: $why"));
    return { status => 'refused', code => 'fault', message => 'the daemon could not do it; its log says why' };
}

# The request, if every field is what it must be.
sub valid ($request) {
    my %field = map { $_ => 1 } qw(action nonce time user project job machine processors seconds);
    my ($unknown) = grep { !$field{$_} } sort keys %$request;
    refuse(malformed => 'there is an unknown field, ' . described(substr $unknown, 0, 40)) if defined $unknown;
    $request->{$_} //= '' for keys %field;

    refuse(malformed => 'there is no such action')              unless $ACTION{ $request->{action} };
    refuse(malformed => 'the nonce is not 32 hexadecimal digits') unless $request->{nonce} =~ /\A[0-9a-f]{32}\z/;
    refuse(malformed => 'the request is too old, or of the future') if abs(time - moment($request->{time})) > OLDEST;
    checked($_ => $request->{$_}) for qw(user project);
    return $request if $request->{action} eq 'statement';

    checked(machine => $request->{machine});
    refuse(malformed => 'the job has other characters than letters, digits and -, or too many')
      unless $request->{job} =~ /\A[0-9A-Za-z-]{1,64}\z/;
    for my $number (sort keys %MOST) {
        my $fits = $request->{$number} =~ /\A[1-9][0-9]{0,8}\z/ && $request->{$number} <= $MOST{$number};
        refuse(malformed => "$number is not a whole number from 1 to $MOST{$number}") unless $fits;
    }
    return $request;
}

sub moment ($text) {
    my @part = $text =~ /\A([0-9]{4})-([0-9]{2})-([0-9]{2})T([0-9]{2}):([0-9]{2}):([0-9]{2})Z\z/
      or refuse(malformed => 'the time is not of the form 2010-12-31T23:59:59Z');
    return eval { timegm_modern(@part[5, 4, 3, 2], $part[1] - 1, $part[0]) } // refuse(malformed => 'there is no such time');
}

1;
