# Builds one kernel, which qemu boots as an ELF file: $PREFIX/boot/vmlinux. Next to
# it are its options (config), and the sizes of its sections (size).
#
#     build-kernel.sh make CC OPTIMIZE     in a folder with the archive of the source
#     build-kernel.sh relink               in the tree that `make` left
#
# CC is gcc or clang; clang comes with LLVM's assembler, linker and archiver.
# OPTIMIZE is -O2 or -Os: the kernel has an option of its own for each of them.

set -eu

# Who built it, and when, is part of a kernel.
KBUILD_BUILD_TIMESTAMP='2026-01-01 00:00:00 UTC'
KBUILD_BUILD_USER=bakeoff
KBUILD_BUILD_HOST=bakeoff
export KBUILD_BUILD_TIMESTAMP KBUILD_BUILD_USER KBUILD_BUILD_HOST

# Links out/vmlinux, by the linker's script SCRIPT in out.
link_kernel() {
    (
        cd out
        $(cat link.words) "--script=$1" -o vmlinux \
            --whole-archive vmlinux.a init/version-timestamp.o --no-whole-archive \
            --start-group lib/lib.a arch/x86/lib/lib.a --end-group
        scripts/sorttable vmlinux       # tables that the kernel looks up by address
    )
}

# Symbols are not loaded, and only people ask for them.
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
    *)     echo "build-kernel.sh: no such compiler: $2" >&2; exit 2 ;;
    esac
    case $3 in
    -O2) choice=PERFORMANCE ;;
    -Os) choice=SIZE ;;
    *)   echo "build-kernel.sh: the kernel cannot be built with $3" >&2; exit 2 ;;
    esac

    tar -xJf src/linux-source-*.tar.xz
    mv linux-source-* linux
    patch -d linux -p1 < exact-times.patch
    mkdir out
    kernel() {
        make -s -C linux "O=$PWD/out" $llvm "$@"
    }
    { cat fragment; echo "CONFIG_CC_OPTIMIZE_FOR_$choice=y"; } > all.config
    kernel "KCONFIG_ALLCONFIG=$PWD/all.config" allnoconfig
    kernel "-j$JOBS" vmlinux

    # The linker and its flags, from what the kernel's makefiles wrote down. To link
    # with them must give the same kernel again.
    sed -n 's/^cmd_vmlinux := [^ ]* "\([^"]*\)" "\([^"]*\)" "\([^"]*\)".*/\1 \2 \3/p' out/.vmlinux.cmd > out/link.words
    test -s out/link.words
    mv out/vmlinux first
    link_kernel arch/x86/kernel/vmlinux.lds
    cmp first out/vmlinux

    install_kernel
    cp out/.config "$PREFIX/boot/config"

    # The tree is kept, for `relink`, which needs only a little of it.
    rm -rf linux first src share
    rm -f out/vmlinux.o
    find out -type f ! -name '*.o' ! -name '*.a' ! -name vmlinux.lds ! -name sorttable ! -name link.words \
        -exec rm -f {} +
    ;;
relink)
    # The order in which the kernel starts its parts is that in which they are
    # linked, so only their text changes places, by names in the linker's script.
    # Bakeoff puts the objects of any new archive into the order of the pass; this
    # archive is made for nothing else.
    (
        cd out
        rm -f order.a
        ar rcST order.a $(ar t vmlinux.a)
        ar t order.a | sed 's/.*/*&(.text)/' > order.lds
        awk '
            /\*\(\.text\.hot / && !done { while ((getline line < "order.lds") > 0) print line; done = 1 }
            { print }
            END { exit !done }
        ' arch/x86/kernel/vmlinux.lds > relink.lds
    )
    link_kernel relink.lds
    install_kernel
    ;;
*)
    echo "usage: build-kernel.sh make CC OPTIMIZE | relink" >&2
    exit 2
    ;;
esac
