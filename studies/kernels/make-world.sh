# Makes the small world that the kernels build, as $PREFIX/boot/root.cpio.gz: a file
# system for the kernel to unpack into memory. It holds a shell and its tools, make,
# a C compiler, and the source of Lua, and nothing of the machine that it is made
# on: equal packages give an equal file. Executed in the folder of the packages.

set -eu
umask 022

mkdir all root

# A package is an archive of archives.
for package in *.deb; do
    ar p "$package" data.tar.xz | tar -xJ -C all
done

take() {
    for file; do
        mkdir -p "root/${file%/*}"
        cp -RP "all/$file" "root/$file"
    done
}

# What a program needs to be executed, and more than tcc and make: libgcc_s is there
# for the program that executes the trials.
lib=lib/x86_64-linux-gnu
take bin/busybox usr/bin/make usr/bin/tcc lib64/ld-linux-x86-64.so.2 $lib/ld-linux-x86-64.so.2
for name in libc.so.6 libm.so.6 libmvec.so.1 libdl.so.2 libpthread.so.0 librt.so.1 libgcc_s.so.1; do
    take $lib/$name
done

# What a program needs to be compiled. Of the kernel's headers, the C library uses
# only a few at the top.
take usr/$lib/tcc usr/$lib/libc.so usr/$lib/libm.so usr/$lib/libc_nonshared.a
for name in crt1 crti crtn; do
    take usr/$lib/$name.o
done
take usr/include/asm-generic usr/include/x86_64-linux-gnu
mkdir root/usr/include/linux
cp all/usr/include/*.h root/usr/include/
cp all/usr/include/linux/*.h root/usr/include/linux/

# The program that is built.
mkdir -p root/usr/src
tar -xzf lua5.4_*.orig.tar.gz -C root/usr/src
mv root/usr/src/lua-* root/usr/src/lua
rm -rf root/usr/src/lua/doc

# Every tool of busybox under its own name, but its archiver: it cannot write any.
for name in $(root/bin/busybox --list); do
    case $name in
    busybox | ar) ;;
    *) [ -e "root/bin/$name" ] || ln -s busybox "root/bin/$name" ;;
    esac
done

ln -s ../../bin/busybox root/usr/bin/env

# Where something is mounted, and the few files that programs ask for.
mkdir -p root/proc root/sys root/dev root/tmp root/etc root/root
chmod 1777 root/tmp
echo 'root:x:0:0:root:/root:/bin/sh' > root/etc/passwd
echo 'root:x:0:' > root/etc/group

# Order, owners, times and numbers of files are the same wherever this is executed.
mkdir -p "$PREFIX/boot"
cd root
find . -exec touch -h -d @1704067200 {} +
find . | LC_ALL=C sort | cpio --quiet -o -H newc -R 0:0 --reproducible | gzip -n -9 > "$PREFIX/boot/root.cpio.gz"
