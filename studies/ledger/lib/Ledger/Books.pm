package Ledger::Books;

# The books: quote, reserve and charge, one transaction each, and a statement.
# Money is in whole units, rates in units for one processor and one second. What
# is refused leaves nothing behind. A handle belongs to the process that opened
# it: the daemon itself has none.

use v5.36;
use DBI;
use Ledger::Refusal qw(refuse);

# Where the books are: what $DATABASE says.
sub source () {
    my $database = $ENV{DATABASE} // 'sqlite';
    return "dbi:SQLite:dbname=$ENV{TMPDIR}/ledger.db"                                       if $database eq 'sqlite';
    return "dbi:Pg:host=127.0.0.1;port=$ENV{PORT_store};dbname=postgres;user=postgres" if $database eq 'postgresql';
    die "DATABASE is '$database': it must be sqlite or postgresql\n";
}

sub open ($class, $source = source()) {
    my $handle = DBI->connect($source, undef, undef, { RaiseError => 1, PrintError => 0, AutoCommit => 1 });
    my $sqlite = $handle->{Driver}{Name} eq 'SQLite';
    if ($sqlite) {
        $handle->{sqlite_unicode} = 1;
        $handle->sqlite_busy_timeout(30_000);
        $handle->do("pragma $_") for 'synchronous = normal', 'foreign_keys = on';
    }
    # PostgreSQL locks rows; SQLite has locked everything when a transaction begins.
    return bless { handle => $handle, lock => $sqlite ? '' : ' for update' }, $class;
}

# What a job may cost; only noted.
sub quote ($self, $request) {
    return $self->_transaction($request, sub {
        my $price = $self->_price($request);
        $self->_afford($request, $price);
        my ($quotation) = $self->_row(
            'insert into quotations (project, member, machine, job, price) values (?, ?, ?, ?, ?) returning id',
            @$request{qw(project user machine job)}, $price);
        return { price => $price, quotation => $quotation };
    });
}

# The same, and the price is held until the job is charged.
sub reserve ($self, $request) {
    return $self->_transaction($request, sub {
        my $price = $self->_price($request);
        my @parts = $self->_afford($request, $price);
        refuse(duplicate => 'the job has a reservation') if $self->_reservation($request);
        refuse(duplicate => 'the job has been charged')  if $self->_charged($request);
        my ($reservation) = $self->_row(
            'insert into reservations (project, member, machine, job, amount) values (?, ?, ?, ?, ?) returning id',
            @$request{qw(project user machine job)}, $price);
        for my $part (@parts) {
            $self->_do('insert into reservation_allocations (reservation, allocation, amount) values (?, ?, ?)',
                $reservation, @$part);
        }
        return { price => $price, reservation => $reservation };
    });
}

# What the job did cost: its reservation goes, the allocations pay.
sub charge ($self, $request) {
    return $self->_transaction($request, sub {
        my $price = $self->_price($request);
        refuse(duplicate => 'the job has been charged') if $self->_charged($request);
        $self->_lock_allocations($request);
        $self->_release($request);
        $self->_debit(@$_) for $self->_afford($request, $price);
        $self->_do('insert into jobs (project, job, member, machine, processors, seconds, price) values (?, ?, ?, ?, ?, ?, ?)',
            @$request{qw(project job user machine processors seconds)}, $price);
        return { price => $price };
    });
}

# What the books say of a project: a healthy one has debited = charged, and held =
# what its reservations say.
sub statement ($self, $request) {
    $self->_known($request);
    my @project = $request->{project};
    my %statement;
    @statement{qw(debited balance)} = $self->_row(
        'select coalesce(sum(granted - balance), 0), coalesce(sum(balance), 0) from allocations where project = ?', @project);
    @statement{qw(jobs charged)} = $self->_row('select count(*), coalesce(sum(price), 0) from jobs where project = ?', @project);
    @statement{qw(reservations reserved)} =
      $self->_row('select count(*), coalesce(sum(amount), 0) from reservations where project = ?', @project);
    ($statement{held}) = $self->_row(
        'select coalesce(sum(h.amount), 0) from reservation_allocations h join allocations a on a.id = h.allocation where a.project = ?',
        @project);
    @statement{qw(transactions recorded)} = $self->_row(
        "select count(*), coalesce(sum(case when action = 'charge' then amount else 0 end), 0) from transactions where project = ?",
        @project);
    return \%statement;
}

# All of $work and the note that it was done, or nothing of it.
sub _transaction ($self, $request, $work) {
    my $handle = $self->{handle};
    $handle->begin_work;
    my $done = eval {
        $self->_known($request);
        my $seen = $self->_row('select id from transactions where nonce = ?', $request->{nonce});
        refuse(replay => 'this request has been here before') if $seen;
        my $reply = $work->();
        $self->_record($request, $reply->{price});
        $handle->commit;
        $reply;
    };
    return $done if $done;
    my $why = $@;
    eval { $handle->rollback };
    die $why;
}

# The nonce is unique, so of two equal requests at once one fails.
sub _record ($self, $request, $amount) {
    $self->_do('insert into transactions (nonce, action, project, member, job, amount, at) values (?, ?, ?, ?, ?, ?, ?)',
        @$request{qw(nonce action project user job)}, $amount, time);
    return;
}

sub _known ($self, $request) {
    my ($user, $project) = @$request{qw(user project)};
    refuse(unknown => 'there is no such user')    unless $self->_row('select 1 from users where name = ?',    $user);
    refuse(unknown => 'there is no such project') unless $self->_row('select 1 from projects where name = ?', $project);
    refuse(unknown => 'the user is no member of the project')
      unless $self->_row('select 1 from memberships where member = ? and project = ?', $user, $project);
    return;
}

sub _price ($self, $request) {
    my ($rate) = $self->_row(
        'select r.rate from charge_rates r join machines m on m.name = r.machine where m.name = ?', $request->{machine});
    refuse(unknown => 'there is no such machine') unless defined $rate;
    return $rate * $request->{processors} * $request->{seconds};
}

sub _lock_allocations ($self, $request) {
    my $sql = "select id, balance from allocations where project = ? order by id$self->{lock}";
    return @{ $self->{handle}->selectall_arrayref($sql, undef, $request->{project}) };
}

# Which allocation pays how much of it: [id, amount], …
sub _afford ($self, $request, $price) {
    my ($left, @parts) = ($price);
    for my $allocation ($self->_lock_allocations($request)) {
        my ($id, $balance) = @$allocation;
        my ($held) = $self->_row('select coalesce(sum(amount), 0) from reservation_allocations where allocation = ?', $id);
        my $free = $balance - $held;
        my $part = $left < $free ? $left : $free;
        next if $part <= 0;
        push @parts, [$id, $part];
        $left -= $part;
    }
    refuse(balance => 'the balance is insufficient') if $left > 0;
    return @parts;
}

sub _reservation ($self, $request) {
    return $self->_row('select id from reservations where project = ? and job = ?', @$request{qw(project job)});
}

sub _charged ($self, $request) {
    return $self->_row('select 1 from jobs where project = ? and job = ?', @$request{qw(project job)});
}

sub _release ($self, $request) {
    my ($reservation) = $self->_reservation($request) or return;
    $self->_do('delete from reservation_allocations where reservation = ?', $reservation);
    $self->_do('delete from reservations where id = ?',                     $reservation);
    return;
}

sub _debit ($self, $allocation, $amount) {
    $self->_do('update allocations set balance = balance - ? where id = ?', $amount, $allocation);
    return;
}

sub _do ($self, $sql, @values) {
    return $self->{handle}->do($sql, undef, @values);
}

sub _row ($self, $sql, @values) {
    return $self->{handle}->selectrow_array($sql, undef, @values);
}

1;
