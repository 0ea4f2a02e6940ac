# Builds one kernel, which qemu boots as an ELF file: $PREFIX/boot/vmlinux. Next to
# it are its options (config), and the sizes of its sections (size).
#
#     build-kernel.sh make CC OPTIMIZE     in a folder with the source's archive
#     build-kernel.sh relink LD SORTED     in the tree that `make` left
#
# CC is gcc or clang; clang comes with LLVM's assembler, linker and archiver.
# OPTIMIZE is -O2 or -Os: the kernel has a choice of its own for each, and takes no
# such flag from outside.
#
# `relink` links the kernel again, from the existing object files, with the text of
# the files in another order. See link_kernel.

set -eu

# Who built it, and when, is part of a kernel.
KBUILD_BUILD_TIMESTAMP='2026-01-01 00:00:00 UTC'
KBUILD_BUILD_USER=bakeoff
KBUILD_BUILD_HOST=bakeoff
export KBUILD_BUILD_TIMESTAMP KBUILD_BUILD_USER KBUILD_BUILD_HOST

# Links out/vmlinux as link-vmlinux.sh of the source does, with the words in
# link.words and the script given.
link_kernel() {
    (
        cd out
        $(cat ../link.words) --script="$1" -o vmlinux
        scripts/sorttable vmlinux           # of exceptions, and for the stack's unwinder
    )
}

install_kernel() {
    mkdir -p "$PREFIX/boot"
    rm -f "$PREFIX/boot/vmlinux"
    objcopy --strip-all out/vmlinux "$PREFIX/boot/vmlinux"
    size -A out/vmlinux > "$PREFIX/boot/size"
}

case $1 in
make)
    case $2 in
    gcc)   llvm= ;;
    clang) llvm=LLVM=1 ;;
    esac
    case $3 in
    -O2) choice=PERFORMANCE ;;
    -Os) choice=SIZE ;;
    esac

    tar -xJf src/linux-source-*.tar.xz
    mv linux-source-* linux
    mkdir out
    kernel() {
        make -s -C linux O="$PWD/out" $llvm "$@"
    }

    { cat fragment; echo "CONFIG_CC_OPTIMIZE_FOR_$choice=y"; } > all.config
    kernel KCONFIG_ALLCONFIG="$PWD/all.config" allnoconfig
    kernel -j"$JOBS" vmlinux
    mkdir -p "$PREFIX/boot"
    cp out/.config "$PREFIX/boot/config"
