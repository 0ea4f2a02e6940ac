# The workload: reads log lines, which it makes up itself, with regular
# expressions, counts in hashes what it finds, and rewrites some of it. This is
# Perl's daily work: matching, capturing, hash look-ups, substitution. Unlike
# the loop it spends its time inside single large functions, where the compiler
# has more to say than calls between files.
#
# The lines come from a generator of its own (Perl's rand differs between
# versions), so all variants read the same ones. Perl draws the order of its
# hashes again for each process, and does so here too, so that no variant is
# judged by one lucky order; nothing that is printed depends on it. It loads no
# module. The first argument says how many lines; the default takes about a second.

my $lines = @ARGV ? $ARGV[0] : 200_000;
my $state = 178;

# A number from 0 to $_[0] - 1, of a linear congruential generator (Numerical Recipes).
sub draw {
    $state = ($state * 1664525 + 1013904223) % 4294967296;
    return int($state / 65536) % $_[0];
}

my @hosts = map { "host$_.example.org" } 1 .. 40;
my @paths = map { join '/', '', ('a' .. 'z')[ $_ % 26 ], "page$_", (qw(search index.html about.txt))[ $_ % 3 ] } 1 .. 300;
my @verbs = qw(GET GET GET HEAD POST);

my (%hits, %bytes, %status, %words);
my ($matched, $rewritten) = (0, 0);
for my $number (1 .. $lines) {
    my $path = $paths[ draw(300) ];
    $path .= '?q=' . join '+', map { 'word' . draw(500) } 0 .. draw(4) if $path =~ /search$/;
    my $line = sprintf '%s - - [%02d/Nov/2026:%02d:%02d:%02d] "%s %s HTTP/1.1" %d %d',
        $hosts[ draw(40) ], 1 + draw(28), draw(24), draw(60), draw(60),
        $verbs[ draw(5) ], $path, (200, 200, 200, 304, 404)[ draw(5) ], draw(50_000);

    next unless $line =~ m{^(\S+) \S+ \S+ \[(\d+)/(\w+)/(\d+):([^\]]+)\] "(\w+) (\S+) [^"]*" (\d+) (\d+)$};
    my ($host, $verb, $what, $code, $size) = ($1, $6, $7, $8, $9);
    $matched++;
    $hits{$host}{$verb}++;
    $status{$code}++;
    if ($what =~ s/\?q=(.*)//) {
        $words{$_}++ for grep { /^word\d*[02468]$/i } split /\+/, $1;
    }
    $rewritten++ if $what =~ s{/(?:index\.(?:html?|php)|search)$}{/}i;
    $bytes{$what} += $size;
}

my ($most) = sort { $bytes{$b} <=> $bytes{$a} || $a cmp $b } keys %bytes;
print "$lines lines, $matched matched, $rewritten rewritten\n";
print join(', ', map { "$_: $status{$_}" } sort keys %status), "\n";
print scalar(keys %hits), ' hosts, ', scalar(keys %bytes), ' pages, ', scalar(keys %words), " words\n";
print "$most $bytes{$most}\n";
