# Asks Perl's Configure what this machine is like, for the options that are its
# arguments, and keeps the answers: $PREFIX/etc/config.sh. Bakeoff executes it
# in a fresh copy of the source. What a variant does beyond these options,
# optimising and linking, is left to build-perl.sh, so that variants that differ
# in nothing else share the answers: Configure asks a thousand questions, and
# takes half as long as compiling.

set -eu

# Configure looks at the machine. What follows the arguments takes the decisions
# from it that would make two machines build two different programs: where else
# to look for headers and libraries, which of the libraries found to link, what
# the machine is called. The date that Perl compiles in is fixed for the same
# reason. `ar` is called by its name alone, as compilers are: what is called by
# its whole path, Bakeoff cannot watch, nor have it take files in another order.
SOURCE_DATE_EPOCH=1653609600
export SOURCE_DATE_EPOCH

# `-E` stops it once config.sh is written.
sh Configure -des -E \
    "-Dprefix=$PREFIX" \
    "$@" \
    -Dfull_ar=ar -Dlocincpth=' ' -Dloclibpth=' ' \
    -Dlibs='-lpthread -ldl -lm -lc' -Ud_crypt -Ui_crypt \
    -Dmyhostname=localhost -Dmydomain=.localdomain \
    -Dcf_by=bakeoff -Dcf_email=bakeoff@localhost -Dperladmin=bakeoff@localhost \
    -Dman1dir=none -Dman3dir=none < /dev/null

mkdir -p "$PREFIX/etc"
cp config.sh "$PREFIX/etc/config.sh"
