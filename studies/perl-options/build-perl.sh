# Builds one lean Perl into $PREFIX: the interpreter, its shared libperl where
# the variant asks for one, and the Perl files that lie ready in the source's
# lib/. Bakeoff executes it in a fresh copy of the source; its arguments are
# what the levels of the variant want to tell Perl's Configure.
#
# It is not an installation of Perl: no extension (XS module) is built and the
# modules that come from dist/, cpan/ and ext/ are left out. The workload of
# this study loads none, and a full build takes three times as long.

set -eu

# Configure looks at the machine. What follows `-Dcc` takes the decisions from
# it that would make two machines build two different programs: where else to
# look for headers and libraries, which of the libraries found to link, what
# the machine is called. The date that Perl compiles in is fixed for the same
# reason.
SOURCE_DATE_EPOCH=1653609600
export SOURCE_DATE_EPOCH

# Every variant asks Configure itself. `-E` stops it once config.sh is written
# and `-S` makes the Makefile and its like from that; between the two comes
# only `make depend`, which a tree that is compiled once has no use for.
sh Configure -des -E \
    "-Dprefix=$PREFIX" \
    "$@" \
    -Dcc=gcc \
    -Dlocincpth=' ' -Dloclibpth=' ' \
    -Dlibs='-lpthread -ldl -lm -lc' -Ud_crypt -Ui_crypt \
    -Dmyhostname=localhost -Dmydomain=.localdomain \
    -Dcf_by=bakeoff -Dcf_email=bakeoff@localhost -Dperladmin=bakeoff@localhost \
    -Dman1dir=none -Dman3dir=none < /dev/null
sh Configure -S < /dev/null

# The target `perl` would first copy all of Perl's pure-Perl modules into lib/.
# These two are all that linking the interpreter needs.
make -j"$JOBS" perl \
    nonxs_ext='ext/ExtUtils-Miniperl/pm_to_blib dist/ExtUtils-ParseXS/pm_to_blib'

# config.sh knows where this Perl will look for its files: under $PREFIX, but
# the folders depend on the version, the threads and the prefix itself.
. ./config.sh

mkdir -p "$PREFIX/bin" "$privlibexp" "$archlibexp/CORE"
cp perl "$PREFIX/bin/perl"
if [ "$useshrplib" = true ]; then
    cp "$libperl" "$archlibexp/CORE/"     # where the executable looks for it
fi
cp -R lib/. "$privlibexp/"
find "$privlibexp" -type f \( -name '*.t' -o -name '*.pod' \) -exec rm -f {} +
