package Ledger::Name;

# Which names of users, projects and machines are taken: those of letters, marks
# and digits in any one script, with - . _ between, in normal form C. Two names
# that look alike are then the same name, or not a name. It does not know which
# names there are.

use v5.36;
use charnames ();
use Exporter 'import';
use Ledger::Refusal qw(refuse);
use Unicode::Normalize qw(NFC);
use Unicode::UCD qw(charscript);

our @EXPORT_OK = qw(checked described);

use constant LONGEST => 40;

# The name, if it is one.
sub checked ($what, $name) {
    refuse(malformed => "there is no $what")                                unless defined $name && length $name;
    refuse(malformed => "the $what is longer than " . LONGEST . ' letters') if length $name > LONGEST;
    if ($name =~ /([^\p{L}\p{M}\p{Nd}\-._])/) {
        refuse(malformed => "the $what has a character that names do not have: " . described($1));
    }
    refuse(malformed => "the $what does not begin with a letter") unless $name =~ /\A\p{L}/;
    refuse(malformed => "the $what is not in normal form C")      unless NFC($name) eq $name;
    my %scripts = map { charscript(ord) => 1 } $name =~ /\p{L}/g;
    delete @scripts{qw(Common Inherited)};
    refuse(malformed => "the $what mixes scripts: " . join ', ', sort keys %scripts) if keys %scripts > 1;
    return $name;
}

# Any text in printable ASCII: other characters appear by their Unicode names.
sub described ($text) {
    return $text =~ s/([^ -~])/sprintf '\N{%s}', charnames::viacode(ord $1) || sprintf 'U+%04X', ord $1/ger;
}

1;
