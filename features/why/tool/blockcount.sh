# Compiles blockcount.c against the headers and static libraries of the valgrind that is installed, and puts links to the
# parts that valgrind starts next to it.
version=$(valgrind --version) # VERSION
valgrind=$(dirname "$(dirname "$(readlink -f "$(command -v valgrind)")")")
libraries= parts=
for folder in "$valgrind"/lib/*/valgrind "$valgrind"/lib64/valgrind "$valgrind"/lib/valgrind "$valgrind"/libexec/valgrind; do
    [ ! -f "$folder/libcoregrind-amd64-linux.a" ] || libraries=$folder
    [ ! -x "$folder/none-amd64-linux" ] || parts=$folder
done
if [ ! -f "$valgrind/include/valgrind/pub_tool_tooliface.h" ] || [ -z "$libraries" ] || [ -z "$parts" ]; then
    echo "$version has no headers and libraries for other tools here (package valgrind, or valgrind-devel)" >&2
    exit 1
fi
cc -O2 -fno-stack-protector -fno-strict-aliasing -fno-builtin -fno-pie -fomit-frame-pointer -I"$valgrind/include/valgrind" \
    -DVGA_amd64=1 -DVGO_linux=1 -DVGP_amd64_linux=1 -DVGPV_amd64_linux_vanilla=1 -c blockcount.c -o blockcount.o
mkdir -p "$PREFIX/valgrind"
ln -s "$parts"/* "$PREFIX/valgrind/"
cc -static -no-pie -nodefaultlibs -nostartfiles -u _start -Wl,--build-id=none -Wl,-Ttext-segment=0x58000000 \
    -o "$PREFIX/valgrind/blockcount-amd64-linux" blockcount.o "$libraries/libcoregrind-amd64-linux.a" \
    "$libraries/libvex-amd64-linux.a" -lgcc "$libraries/libgcc-sup-amd64-linux.a"
