package Ledger::Envelope;

# The signed envelope, for requests and replies alike:
#
#   <Envelope><Body><action>quote</action>…</Body><Signature>…</Signature></Envelope>
#
# The signature is HMAC-SHA1, in hexadecimal, over the body in canonical form
# (C14N), so that it does not depend on how the XML was written. It keeps nobody
# from reading what is inside.

use v5.36;
use Digest::HMAC_SHA1 qw(hmac_sha1_hex);
use Exporter 'import';
use Ledger::Refusal qw(refuse);
use XML::LibXML;

our @EXPORT_OK = qw(seal unseal);

# The bytes of an envelope around these fields.
sub seal ($fields, $key) {
    my $document = XML::LibXML::Document->new('1.0', 'UTF-8');
    my $envelope = $document->createElement('Envelope');
    $document->setDocumentElement($envelope);
    my $body = $envelope->addNewChild(undef, 'Body');
    for my $name (sort keys %$fields) {
        utf8::upgrade(my $value = $fields->{$name});    # libxml takes what is not as UTF-8 already
        $body->appendTextChild($name, $value);
    }
    $envelope->appendTextChild(Signature => signature($body, $key));
    return $document->toString;
}

# The fields in an envelope, if it is whole and signed with this key.
sub unseal ($bytes, $key) {
    my $envelope = parse($bytes)->documentElement;
    my ($body, $signature, @more) = grep { $_->nodeType == XML_ELEMENT_NODE } $envelope->childNodes;
    my $shape = join ' ', map { $_ ? $_->nodeName : '-' } $envelope, $body, $signature, @more;
    refuse(malformed => 'this is no envelope with body and signature') unless $shape eq 'Envelope Body Signature';
    refuse(signature => 'the signature is wrong') unless same($signature->textContent, signature($body, $key));

    my %fields;
    for my $field ($body->childNodes) {
        my $simple = $field->nodeType == XML_ELEMENT_NODE && !grep { $_->nodeType != XML_TEXT_NODE } $field->childNodes;
        refuse(malformed => 'the body has something else than fields') unless $simple;
        refuse(malformed => 'a field is there twice') if exists $fields{ $field->nodeName };
        $fields{ $field->nodeName } = $field->textContent;
    }
    return \%fields;
}

# Nothing is fetched, expanded or declared on behalf of a stranger.
sub parse ($bytes) {
    refuse(malformed => 'a document type is not taken') if $bytes =~ /<!DOCTYPE/i;
    my $parser   = XML::LibXML->new(no_network => 1, load_ext_dtd => 0, expand_entities => 0);
    my $document = eval { $parser->parse_string($bytes) };
    refuse(malformed => 'this is no well-formed XML') unless $document && $document->documentElement;
    refuse(malformed => 'a document type is not taken') if $document->internalSubset;
    return $document;
}

sub signature ($body, $key) {
    my $canonical = $body->toStringC14N;
    utf8::encode($canonical) if utf8::is_utf8($canonical);
    return hmac_sha1_hex($canonical, $key);
}

# Compared to the end, whatever differs: the time says nothing of where.
sub same ($given, $right) {
    utf8::encode($given);
    return 0 unless length $given == length $right;
    return ($given ^. $right) !~ /[^\0]/;
}

1;
