#!/bin/sh
# Builds one package as its README says and installs its program, with flags in the environment, on make's command line,
# or neither: build.sh PACKAGE IN-ENVIRONMENT ON-MAKE. Bakeoff calls it in the package's source with PREFIX and JOBS set.
set -eu
package=$1
if [ -n "$2" ]; then
    export CFLAGS="$2" CXXFLAGS="$2"
fi
flags=$3
build() {
    make -j"$JOBS" "$@" ${flags:+"CFLAGS=$flags"} ${flags:+"CXXFLAGS=$flags"}
}
case $package in
lua)
    build linux
    install -D src/lua "$PREFIX/bin/lua"
    ;;
bzip2 | zopfli)
    build "$package"
    install -D "$package" "$PREFIX/bin/$package"
    ;;
lzip | mawk)
    ./configure --prefix="$PREFIX"
    build
    install -D "$(find . -name "$package" -type f -perm -1)" "$PREFIX/bin/$package"
    ;;
brotli)
    cmake -S . -B out -DCMAKE_BUILD_TYPE=Release
    build -C out brotli
    install -D out/brotli "$PREFIX/bin/brotli"
    ;;
esac
