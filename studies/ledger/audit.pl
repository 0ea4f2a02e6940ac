# The oracle: asks the daemon on $PORT_ledger for a statement of every project.
#
#   perl audit.pl OPERATIONS      the number sent for the project größe
#
# For all: debits = the charges of the jobs = the charges recorded, and held
# amounts = reservations. For größe: no reservation is left, and there are as many
# transactions as operations. The clients of the load (фон) are stopped when the
# trial ends, perhaps between two operations, so theirs are not counted.

use v5.36;
use utf8;
use FindBin;
use lib "$FindBin::Bin/lib";
use Ledger::Client;

die "usage: audit.pl OPERATIONS\n" unless @ARGV == 1;
my $client = Ledger::Client->new(port => $ENV{PORT_ledger} // 7112);
my @wrong  = (books('größe', 'zoë'), books('фон', 'мария'), measured('größe', 'zoë'));
binmode STDERR, ':encoding(UTF-8)';
die map { "audit.pl: $_\n" } @wrong if @wrong;

sub statement ($project, $user) {
    my $reply = $client->call(action => 'statement', project => $project, user => $user);
    die "audit.pl: no statement of $project, $reply->{code}: $reply->{message}\n" unless $reply->{status} eq 'success';
    return $reply;
}

sub books ($project, $user) {
    my $is = statement($project, $user);
    return (
        differ("$project: debited and charged",  @$is{qw(debited charged)}),
        differ("$project: charged and recorded", @$is{qw(charged recorded)}),
        differ("$project: held and reserved",    @$is{qw(held reserved)}),
    );
}

sub measured ($project, $user) {
    my $is = statement($project, $user);
    return (
        differ("$project: reservations left, and none",      $is->{reservations}, 0),
        differ("$project: transactions and operations sent", $is->{transactions}, $ARGV[0]),
    );
}

sub differ ($what, $one, $other) {
    return $one == $other ? () : "$what differ: $one and $other";
}
