# The daemon: accounts for jobs. It listens on 127.0.0.1:$PORT_ledger, forks a
# child for every connection, and keeps its books where $DATABASE says.
#
#   PRELOAD    what is loaded before the fork: none, database+xml, all
#   LOG        warn or trace; the log is $TMPDIR/ledger.log
#   DATABASE   sqlite ($TMPDIR/ledger.db) or postgresql (127.0.0.1:$PORT_store)
#
# setup.pl makes the books; TERM ends it.

use v5.36;
use FindBin;
use lib "$FindBin::Bin/lib";
use Ledger::Preload;
use Ledger::Server;

my $preload = $ENV{PRELOAD} // 'all';
Ledger::Preload::before_fork($preload);
Ledger::Server::serve(
    port    => $ENV{PORT_ledger} // 7112,
    key     => $ENV{LEDGER_KEY}  // 'bakeoff',
    log     => ($ENV{TMPDIR} // '/tmp') . '/ledger.log',
    preload => $preload,
);
