# Builds one lean Perl into $PREFIX from the answers in $PREFIX/etc/config.sh:
# the interpreter, its shared libperl where the variant asks for one, and the
# Perl files that lie ready in the source's lib/. Bakeoff executes it in a fresh
# copy of the source; its argument is what gcc shall be told (`-O2`).
#
# It is not an installation of Perl: no extension (XS module) is built and the
# modules that come from dist/, cpan/ and ext/ are left out. The workload of
# this study loads none, and a full build takes three times as long.

set -eu

SOURCE_DATE_EPOCH=1653609600    # as in configure-perl.sh
export SOURCE_DATE_EPOCH

# `-S` makes the Makefile and its like from config.sh. `make depend` would come
# next, which a tree that is compiled once has no use for.
sed "s/^optimize=.*/optimize='$1'/" "$PREFIX/etc/config.sh" > config.sh
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
