# One trial: builds Lua with JOBS jobs, tries it, and prints the hashes of what was
# built, which are the same under every kernel.
#
#   world.sh JOBS

set -eu

jobs=$1
marks=${BAKEOFF_MARKS:-2}

cd "$TMPDIR"
cp /usr/src/lua/src/* .

echo "phase build" >&"$marks"
make -s -j"$jobs" lua luac CC=tcc CFLAGS="-O2 -DLUA_USE_POSIX" AR="tcc -ar rcs" RANLIB=true LIBS=-lm

echo "phase check" >&"$marks"
./luac -o squares.luac - <<END
local sum = 0
for n = 1, 100 do sum = sum + n * n end
print(_VERSION .. " adds 100 squares: " .. sum)
END
./lua squares.luac
sha256sum lua luac liblua.a
