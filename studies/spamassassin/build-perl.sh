# Builds and installs a Perl into $PREFIX, from the answers in
# $PREFIX/etc/config.sh, which name its extensions too. Bakeoff executes it in a
# fresh copy of the source. Its arguments are a flag for the compiler (`-O2`), and
# additional flags for the linker when it makes a shared library.

set -eu

SOURCE_DATE_EPOCH=1653609600    # as in configure-perl.sh
export SOURCE_DATE_EPOCH

# `-S` makes the Makefile and its like from config.sh. `make depend` would come
# next, which a tree that is compiled once has no use for.
sed -e "s/^optimize=.*/optimize='$1'/" \
    -e "s/^lddlflags='\(.*\)'/lddlflags='\1${2:+ $2}'/" "$PREFIX/etc/config.sh" > config.sh
sh Configure -S < /dev/null

# Without the pages of the manual that are generated, and without the tables that
# only charnames and Unicode::UCD read. `make install` would look at each extension
# again and install the manual.
make -j"$JOBS" generated_pods= unidatafiles=
make install.perl INSTALL_DEPENDENCE= INSTALLFLAGS=-p

# What the modules have of the manual, which nobody reads here.
find "$PREFIX/lib" -name '*.pod' -exec rm -f {} +
