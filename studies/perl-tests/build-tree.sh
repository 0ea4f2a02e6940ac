# Builds a whole Perl in $PREFIX/tree and leaves it there, ready for its own
# tests: they are executed in the tree, not in an installed Perl. Bakeoff executes
# this in a fresh copy of the source; its arguments are the compiler and its flag
# (`gcc`, `-O2`).

set -eu

SOURCE_DATE_EPOCH=1653609600    # Perl compiles the date in
export SOURCE_DATE_EPOCH

# The tree knows its own path, so it is built where it will stay.
mkdir -p "$PREFIX/tree"
cp -R . "$PREFIX/tree"
cd "$PREFIX/tree"

# Configure looks at the machine. What follows the compiler takes the decisions
# from it that would make two machines build two different programs.
sh Configure -des \
    "-Dprefix=$PREFIX" "-Dcc=$1" "-Doptimize=$2" \
    -Dlocincpth=' ' -Dloclibpth=' ' \
    -Dlibs='-lpthread -ldl -lm -lc' -Ud_crypt -Ui_crypt \
    -Dmyhostname=localhost -Dmydomain=.localdomain \
    -Dcf_by=bakeoff -Dcf_email=bakeoff@localhost -Dperladmin=bakeoff@localhost \
    -Dman1dir=none -Dman3dir=none < /dev/null

# `test_prep` is what `make test` does before its first test.
make -j"$JOBS"
make -j"$JOBS" test_prep
