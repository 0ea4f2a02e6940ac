package Ledger::Preload;

# Which modules are loaded before the daemon forks, and so are there in every
# child: none; database+xml, the large ones that everybody would name; all, down
# to what Perl loads by itself when something is used for the first time. What is
# not loaded here, each child loads when it needs it: no level changes what is
# done, only when.

use v5.36;

my %LEVEL = ('none' => sub { }, 'database+xml' => \&database_and_xml, 'all' => \&all);

sub before_fork ($level) {
    my $load = $LEVEL{$level} // die "PRELOAD is '$level': it must be one of @{[sort keys %LEVEL]}\n";
    $load->();
    return;
}

# No handle is opened: one that is open at a fork would be used, and closed, by two.
sub database_and_xml () {
    require DBI;
    require Digest::HMAC_SHA1;
    require XML::LibXML;
    DBI->install_driver(($ENV{DATABASE} // 'sqlite') eq 'sqlite' ? 'SQLite' : 'Pg');
    return;
}

sub all () {
    database_and_xml();
    require Ledger::Child;
    # charscript, charnames and the encoding of a file bring their tables and modules at the first use.
    Ledger::Name::checked(user => "zo\x{eb}");
    Ledger::Name::described("\x{eb}");
    Ledger::Log->new('/dev/null', 'trace')->trace('rehearsed');
    Ledger::Envelope::unseal(Ledger::Envelope::seal({ action => 'rehearse' }, 'key'), 'key');
    return;
}

1;
