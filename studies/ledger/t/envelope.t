# The envelope: what is sealed comes out again, and nothing else does.

use v5.36;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Ledger::Envelope qw(seal unseal);
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);

my $fields = { action => 'quote', user => 'zoë', note => 'a < b & "c"' };
my $sealed = seal($fields, 'key');
is_deeply(unseal($sealed, 'key'), $fields, 'what is sealed comes out');
is_deeply(unseal($sealed =~ s/\?>\n/?>\n<!-- written in another way -->\n/r =~ s/<note>/<note >/r, 'key'),
    $fields, '… however the XML is written');

sub code_of ($bytes) { return eval { unseal($bytes, 'key'); 'taken' } // (ref $@ ? $@->{code} : $@) }

is(code_of(seal($fields, 'other')),                             'signature', 'another key');
is(code_of($sealed =~ s/quote/charge/r),                        'signature', 'another action');
is(code_of($sealed =~ s/(<Signature>)./$1g/r),                  'signature', 'another signature');
is(code_of($sealed =~ s/<Signature>.*?<\/Signature>//r),        'malformed', 'no signature');
is(code_of($sealed =~ s/<Body>/<Body><Body\/>/r),               'signature', 'a body in the body');
is(code_of(substr $sealed, 0, 60),                              'malformed', 'half of it');
is(code_of(''),                                                 'malformed', 'nothing');
is(code_of("<!DOCTYPE x [<!ENTITY e SYSTEM 'file:///etc/passwd'>]>$sealed"), 'malformed', 'a document type');

done_testing;
