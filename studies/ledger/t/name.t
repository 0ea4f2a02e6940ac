# Which names are accepted, and what the others are answered.

use v5.36;
use utf8;
use FindBin;
use lib "$FindBin::Bin/../lib";
use Ledger::Name qw(checked described);
use Test::More;

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output);

is(checked(user => $_), $_, "$_ is a name") for qw(zoë мария größe cluster-1 a.b_c 東京 q2 ñandú);

my %refused = (
    ''                 => qr/there is no user/,
    'a b'              => qr/character that names do not have/,
    "a\x{202e}b"       => qr/N\{RIGHT-TO-LEFT OVERRIDE\}/,
    "zoe\x{308}"       => qr/not in normal form C/,
    "p\x{430}ypal"     => qr/mixes scripts: Cyrillic, Latin/,
    '1st'              => qr/does not begin with a letter/,
    ';drop'            => qr/names do not have: ;/,
    'x' x 41           => qr/longer than 40/,
    "zo\x{eb}\n"       => qr/N\{LINE FEED\}/,
);
for my $name (sort keys %refused) {
    ok(!eval { checked(user => $name); 1 }, 'refused: ' . described($name));
    like($@->{message}, $refused{$name}, '… with the reason');
}

done_testing;
