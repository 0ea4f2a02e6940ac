package Ledger::Wire;

# One message on a connected socket, in HTTP's framing: a first line, headers of
# which Content-Length counts, an empty line, content. It is not an HTTP
# implementation, and knows nothing of what the content says.

use v5.36;
use Exporter 'import';
use Ledger::Refusal qw(refuse);

our @EXPORT_OK = qw(read_message write_message);

use constant {
    REQUEST      => 'POST /ledger HTTP/1.0',
    REPLY        => 'HTTP/1.0 200 OK',
    MOST_HEAD    => 8 * 1024,
    MOST_CONTENT => 64 * 1024,
};

# The content of the message that comes, if it begins with this line.
sub read_message ($socket, $first_line) {
    my $buffer = '';
    until ($buffer =~ /\r\n\r\n/) {
        refuse(huge => 'the head is longer than ' . MOST_HEAD . ' bytes') if length $buffer > MOST_HEAD;
        more($socket, \$buffer, 4096);
    }
    my ($head, $content) = split /\r\n\r\n/, $buffer, 2;
    refuse(malformed => 'the first line is not ' . $first_line) unless $head =~ /\A\Q$first_line\E(?:\r\n|\z)/;
    my ($length) = $head =~ /^Content-Length: *([0-9]{1,15})\r?$/mi
      or refuse(malformed => 'there is no Content-Length');
    refuse(huge => 'the content is longer than ' . MOST_CONTENT . ' bytes') if $length > MOST_CONTENT;
    more($socket, \$content, $length - length $content) while length $content < $length;
    refuse(malformed => 'the content is longer than it says') if length $content > $length;
    return $content;
}

sub write_message ($socket, $first_line, $content) {
    my $message = "$first_line\r\nContent-Type: text/xml\r\nContent-Length: " . length($content) . "\r\n\r\n$content";
    while (length $message) {
        my $written = syswrite $socket, $message;
        next if !defined $written && $!{EINTR};
        die "a message could not be written: $!\n" unless defined $written;
        substr $message, 0, $written, '';
    }
    return;
}

# Appends the bytes that have arrived, at most `$most`.
sub more ($socket, $buffer, $most) {
    my $read = sysread $socket, $$buffer, $most, length $$buffer;
    return if !defined $read && $!{EINTR};
    refuse(malformed => "the message could not be read: $!") unless defined $read;
    refuse(malformed => 'the message ends too early')        unless $read;
    return;
}

1;
