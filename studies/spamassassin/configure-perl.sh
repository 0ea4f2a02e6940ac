# Asks Perl's Configure what this machine is like, for the compiler and the
# options that are its arguments, and keeps the answers: $PREFIX/etc/config.sh.
# Bakeoff executes it in a fresh copy of the source. Variants that differ only
# in how the compiler optimises, or in how libperl is linked, share them.

set -eu

# Configure looks at the machine. What follows the arguments takes the decisions from
# it that would make two machines build two different programs: where else to
# look for headers and libraries, which of the libraries found to link, what
# the machine is called. The date that Perl compiles in is fixed for the same
# reason. sitelib has a name without a version, because what lies there was
# installed before Perl.
SOURCE_DATE_EPOCH=1653609600
export SOURCE_DATE_EPOCH

# Of Perl's extensions in C, those that SpamAssassin and the modules that it loads
# may use, and B, without which MakeMaker fails. Encode's tables are slow to build,
# but some of the mails are in Chinese or Japanese. Those in Perl are all built.
extensions='
    B Compress/Raw/Zlib Cwd Data/Dumper Digest/MD5 Digest/SHA Encode Fcntl File/Glob
    IO List/Util MIME/Base64 Math/BigInt/FastCalc POSIX PerlIO/encoding
    PerlIO/scalar SDBM_File Socket Storable Sys/Hostname Sys/Syslog Time/HiRes
    attributes mro re'

# `-E` stops it once config.sh is written.
sh Configure -des -E \
    "-Dprefix=$PREFIX" "-Dsitelib=$PREFIX/lib/site_perl" -Dinc_version_list=none \
    "$@" \
    "-Donlyextensions=$(echo $extensions)" \
    -Dlocincpth=' ' -Dloclibpth=' ' \
    -Dlibs='-lpthread -ldl -lm -lc' -Ud_crypt -Ui_crypt \
    -Dmyhostname=localhost -Dmydomain=.localdomain \
    -Dcf_by=bakeoff -Dcf_email=bakeoff@localhost -Dperladmin=bakeoff@localhost \
    -Dman1dir=none -Dman3dir=none < /dev/null

mkdir -p "$PREFIX/etc"
cp config.sh "$PREFIX/etc/config.sh"
