# Makes new books where $DATABASE says, for ledgerd.pl. It is a program of its own
# so that the daemon loads nothing for it.

use v5.36;
use FindBin;
use lib "$FindBin::Bin/lib";
use Ledger::Schema;

Ledger::Schema::create();
