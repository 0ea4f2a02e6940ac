package Site;

# What a test needs: a fresh folder with new books, daemons on them, clients, and
# what the books and the log say. DATABASE=postgresql prove … has a cluster
# instead of a file.

use v5.36;
use utf8;
use Exporter 'import';
use File::Basename qw(dirname);
use File::Temp qw(tempdir);
use Ledger::Books;
use Ledger::Client;
use Ledger::Schema;
use Spawn;
use Test::More;

our @EXPORT_OK = qw(client job logged spawned statement unbalanced);

binmode Test::More->builder->$_, ':encoding(UTF-8)' for qw(output failure_output todo_output);

my ($owner, $store, $store_log) = ($$);
$ENV{DATABASE} //= 'sqlite';
$ENV{LOG}      //= 'warn';
$ENV{PRELOAD}  //= 'all';
my $folder = $ENV{TMPDIR} = tempdir(CLEANUP => 1);
start_store() if $ENV{DATABASE} eq 'postgresql';
Ledger::Schema::create();

sub start_store () {
    $ENV{PORT_store} = Spawn::free_port();
    my $program = dirname(__FILE__) . '/../../store.sh';
    $store = open $store_log, '-|', "exec sh $program 2>&1" or die "store.sh: $!\n";
    my $said = '';
    until ($said =~ /ready to accept/) {
        my $line = readline $store_log // die "store.sh ended:\n$said";
        $said .= $line;
    }
    return;
}

END {
    if ($store && $$ == $owner) {
        local $?;
        kill INT => $store;
        waitpid $store, 0;
    }
}

sub spawned (@more) { return Spawn->new(@more) }
sub client ($daemon) { return Ledger::Client->new(port => $daemon->port) }

my $jobs = 0;

# A request's fields for a new job, with these in place of the usual ones.
sub job ($action, %other) {
    return (action => $action, user => 'zoë', project => 'größe', machine => 'cluster-1',
        processors => 8, seconds => 3600, job => "$$-" . ++$jobs, %other);
}

sub statement ($project = 'größe') {
    return Ledger::Books->open->statement({ project => $project, user => $project eq 'größe' ? 'zoë' : 'мария' });
}

# What is wrong with the books, of all projects; nothing if they balance.
sub unbalanced () {
    my @wrong;
    for my $project ('größe', 'фон') {
        my $is = statement($project);
        push @wrong, "$project: debited $is->{debited}, charged $is->{charged}, recorded $is->{recorded}"
          if $is->{debited} != $is->{charged} || $is->{charged} != $is->{recorded};
        push @wrong, "$project: held $is->{held}, reserved $is->{reserved}" if $is->{held} != $is->{reserved};
    }
    return join '; ', @wrong;
}

sub logged () {
    open my $log, '<:encoding(UTF-8)', "$folder/ledger.log" or return '';
    local $/ = undef;
    return readline($log) // '';
}

1;
