# The workload: starts Perl 400 times, one after the other, to do nothing. One
# start is too short to be a trial of its own. Of each, the shell's own share is
# the same for all variants; what differs is what the loader has to do: find a
# libperl.so, relocate it, bind its symbols.
#
# Bakeoff sets BAKEOFF_TRACED for a trial that is stopped at every system call: a few
# starts show there what each of them asks for.
#
# It is not what Perl programs wait for when they start: those load modules.

times=${1:-400}
test -z "$BAKEOFF_TRACED" || times=10
n=0
while [ "$n" -lt "$times" ]; do
    "$PREFIX/bin/perl" -e 1 || exit
    n=$((n + 1))
done
echo "every start succeeded"
