package Ledger::Refusal;

# A request that is refused: a code for programs, a sentence for people. It is
# thrown with die, and becomes an error reply. It is not for faults of our own.

use v5.36;
use Exporter 'import';

our @EXPORT_OK = qw(refuse);

sub refuse ($code, $message) {
    die bless { code => $code, message => $message }, __PACKAGE__;
}

1;
