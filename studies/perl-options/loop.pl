# The workload: builds lists of a hundred numbers, joins and splits them. It
# does little but allocate and free small pieces of memory, which is where a
# malloc, threads and calls across a shared library show. It is not meant to
# stand for what Perl programs do as a whole.
#
# It loads no module, not even strict, so that an interpreter without any
# library executes it. The first argument says how often to do it; the default
# takes about two seconds.

my $times  = @ARGV ? $ARGV[0] : 100_000;
my $fields = 0;
my $sum    = 0;

for my $i (1 .. $times) {
    my @x = map {$i} 1 .. 100;
    my $x = join ' ', @x;
    @x = split ' ', $x;
    $fields += @x;
    $sum    += $x[99];
}

print "$times times, $fields fields, sum $sum\n";
