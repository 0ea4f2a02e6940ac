# Builds one lean Perl into $PREFIX from the answers in $PREFIX/etc/config.sh:
# the interpreter, its shared libperl where the variant asks for one, and the
# Perl files that are ready in the source's lib/.
#
#     build-perl.sh make [NAME=VALUE | NAME+=VALUE]…   in a fresh copy of the source
#
# `make` takes values that replace one of Configure's answers (optimize=-O3), or
# are added to it (lddlflags+=-Wl,-Bsymbolic).
#
# It is not an installation of Perl: no extension (XS module) is built, and of
# the modules in dist/, cpan/ and ext/ only those that it is linked with, Exporter,
# and Errno, which `$!{EAGAIN}` loads. A full build takes longer.

set -eu

SOURCE_DATE_EPOCH=1653609600    # as in configure-perl.sh
export SOURCE_DATE_EPOCH

# One answer of config.sh. Values stand in single quotes there, and none of ours
# has one; `|` and `&` do not occur in them either.
answer() {
    grep -q "^${1%%[+=]*}='" config.sh || { echo "build-perl.sh: Configure knows no answer ${1%%[+=]*}" >&2; exit 1; }
    case $1 in
    *+=) ;;                                     # nothing is added
    *+=*) sed -i "s|^\(${1%%+=*}='.*\)'|\1 ${1#*+=}'|" config.sh ;;
    *)    sed -i "s|^${1%%=*}='.*|${1%%=*}='${1#*=}'|" config.sh ;;
    esac
}

install_perl() {
    # config.sh knows where this Perl will look for its files: under $PREFIX, but
    # the folders depend on the version, the threads and the prefix itself.
    . ./config.sh
    mkdir -p "$PREFIX/bin" "$privlibexp" "$archlibexp/CORE"
    cp perl "$PREFIX/bin/perl"
    if [ "$useshrplib" = true ]; then
        cp -f "$libperl" "$archlibexp/CORE/"  # where the executable looks for it
    fi
}

case $1 in
make)
    shift
    cp "$PREFIX/etc/config.sh" config.sh
    for change; do
        answer "$change"
    done

    # `-S` makes the Makefile and its like from config.sh. `make depend` would
    # come next, which a tree that is compiled once has no use for.
    sh Configure -S < /dev/null

    # The target `perl` would first copy all of Perl's pure-Perl modules into
    # lib/. The first three are all that linking the interpreter needs; of the
    # names, make wants a single line.
    modules='ext/ExtUtils-Miniperl dist/ExtUtils-ParseXS dist/base dist/Exporter ext/Errno'
    make -j"$JOBS" perl nonxs_ext="$(printf '%s/pm_to_blib ' $modules)"
    install_perl
    find lib -type f \( -name '*.t' -o -name '*.pod' \) ! -path lib/Config.pod -exec rm -f {} +
    cp -R lib/. "$privlibexp/"
    ;;
*)
    echo "usage: build-perl.sh make [NAME=VALUE | NAME+=VALUE]…" >&2
    exit 2
    ;;
esac
