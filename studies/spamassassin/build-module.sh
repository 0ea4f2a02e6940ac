# Builds the Perl module whose source this is with the Perl in $PREFIX, and
# installs it there. The arguments are for its Makefile.PL.

set -eu

PERL_MM_USE_DEFAULT=1       # asks nothing
export PERL_MM_USE_DEFAULT

# NetAddr::IP waits for 15 seconds, so that one may read its advice, unless it
# was built here before.
touch Makefile.old

"$PREFIX/bin/perl" Makefile.PL INSTALLMAN1DIR=none INSTALLMAN3DIR=none "$@" < /dev/null
make -j"$JOBS"
make install
