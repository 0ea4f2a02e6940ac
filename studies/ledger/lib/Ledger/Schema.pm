package Ledger::Schema;

# New books: the tables, and a small site with two projects of two allocations
# each. `größe` is the measured one; `фон` belongs to the other clients that use
# the daemon meanwhile.

use v5.36;
use utf8;
use Ledger::Books;

our %SITE = (
    users    => [qw(zoë søren мария)],
    machines => { 'cluster-1' => 3, 'cluster-2' => 7 },      # units for one processor and one second
    projects => { größe => [qw(zoë søren)], фон => [qw(мария)] },
    granted  => [1_000_000_000, 1_000_000_000_000],          # the first is soon used up
);

my @TABLES = (
    'users (name text primary key)',
    'projects (name text primary key)',
    'memberships (member text references users, project text references projects, primary key (member, project))',
    'machines (name text primary key)',
    'charge_rates (machine text primary key references machines, rate bigint not null check (rate > 0))',
    'allocations (id ID, project text not null references projects, granted bigint not null, balance bigint not null check (balance >= 0))',
    'quotations (id ID, project text not null, member text not null, machine text not null, job text not null, price bigint not null)',
    'reservations (id ID, project text not null, member text not null, machine text not null, job text not null, amount bigint not null, unique (project, job))',
    'reservation_allocations (reservation bigint references reservations, allocation bigint references allocations, amount bigint not null check (amount > 0), primary key (reservation, allocation))',
    'jobs (project text, job text, member text not null, machine text not null, processors bigint not null, seconds bigint not null, price bigint not null, primary key (project, job))',
    'transactions (id ID, nonce text not null unique, action text not null, project text not null, member text not null, job text not null, amount bigint not null, at bigint not null)',
);

sub create ($source = Ledger::Books::source()) {
    my $handle = Ledger::Books->open($source)->{handle};
    my $sqlite = $handle->{Driver}{Name} eq 'SQLite';
    $handle->do('pragma journal_mode = wal') if $sqlite;     # it stays with the file
    $handle->begin_work;
    my $id = $sqlite ? 'integer primary key' : 'bigint generated always as identity primary key';
    $handle->do('create table ' . s/\bID\b/$id/r) for @TABLES;
    $handle->do('create index held_of on reservation_allocations (allocation)');
    _fill($handle);
    $handle->commit;
    $handle->disconnect;
    return;
}

sub _fill ($handle) {
    my $insert = sub ($into, @values) {
        $handle->do("insert into $into values (" . join(', ', ('?') x @values) . ')', undef, @values);
    };
    $insert->(users => $_) for @{ $SITE{users} };
    for my $machine (sort keys %{ $SITE{machines} }) {
        $insert->(machines     => $machine);
        $insert->(charge_rates => $machine, $SITE{machines}{$machine});
    }
    for my $project (sort keys %{ $SITE{projects} }) {
        $insert->(projects    => $project);
        $insert->(memberships => $_, $project) for @{ $SITE{projects}{$project} };
        $insert->('allocations (project, granted, balance)' => $project, $_, $_) for @{ $SITE{granted} };
    }
    return;
}

1;
