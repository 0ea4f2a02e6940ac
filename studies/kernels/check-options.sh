# Are the options of a kernel those of all kernels of this study?
#
#   check-options.sh CONFIG        names every option that differs, and fails then
#   check-options.sh --list CONFIG prints the options: this is how `options.txt` was made
#
# CONFIG is the kernel's .config. `options.txt` has every option that is set, but not
# those that `implied-options` allows to differ. So if two kernels pass, their
# compilers differ, and their optimisation, and nothing else.

set -eu
LC_ALL=C
export LC_ALL

list() {
    sed '/^#/d; /^$/d; s/.*/^CONFIG_(&)=/' implied-options > implied.tmp
    grep '^CONFIG_' "$1" | grep -vEf implied.tmp | sort
    rm implied.tmp
}

if [ "$1" = --list ]; then
    list "$2"
    exit 0
fi

list "$1" > options.tmp
if ! diff options.txt options.tmp > differ.tmp; then
    echo "check-options.sh: options that should be the same in every kernel are not (<: expected, >: here)" >&2
    grep '^[<>]' differ.tmp >&2
    exit 1
fi
rm options.tmp differ.tmp
