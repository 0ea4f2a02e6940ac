# One trial: the client that $CLIENT names sends so many sets of so many bytes to
# the server at $PORT_memcached.
#
#   load.sh COUNT SIZE
#
# Every client marks two phases, queue and complete, and the value rate: sets per
# second, from the beginning of the first phase to the end of the second. It says
# `COUNT sets` if, as far as it knows, all is well. Whether the server agrees is
# check-sets.sh's to find out.

set -eu

count=$1
size=$2

case $CLIENT in
spymemcached-*)
    exec "$PREFIX/jvm/$JVM/bin/java" "$ASSERTIONS" -cp "$PREFIX/classes:$PREFIX/lib/$CLIENT.jar" \
        Sets "$PORT_memcached" "$count" "$size" "$TIMEOUT_MS"
    ;;
*)
    echo "load.sh: no such client: $CLIENT" >&2
    exit 2
    ;;
esac
