# One trial: the client that $CLIENT names sends COUNT sets of SIZE bytes to the
# server at $PORT_memcached.
#
#   load.sh COUNT SIZE
#
# Every client marks two phases: in queue it makes the sets and hands them over, in
# complete it waits for them. The value rate is sets per second of both phases. The
# client prints `COUNT sets` if it noticed no error. check-sets.sh finds out whether
# the server agrees.

set -eu

count=$1
size=$2

case $CLIENT in
spymemcached-*)
    exec "$PREFIX/jvm/$JVM/bin/java" "$ASSERTIONS" -cp "$PREFIX/classes:$PREFIX/lib/$CLIENT.jar" \
        Sets "$PORT_memcached" "$count" "$size" "$TIMEOUT_MS"
    ;;
native)
    exec "$PREFIX/bin/setload" -p "$PORT_memcached" -n "$count" -s "$size" -w 10000
    ;;
nc-*)
    # Nothing is left to queue: the bytes were computed when the study was built,
    # and the first phase lasts no longer than it takes to look at the clock.
    stream=$PREFIX/streams/${CLIENT#nc-}-$count-$size
    marks=${BAKEOFF_MARKS:-2}
    echo "phase queue" >&"$marks"
    began=$(date +%s%N)
    echo "phase complete" >&"$marks"
    answer=$(nc.openbsd 127.0.0.1 "$PORT_memcached" < "$stream" | wc -c)
    ended=$(date +%s%N)
    echo "phase close" >&"$marks"
    echo "value rate $((count * 1000000000 / (ended - began))) /s" >&"$marks"

    # `STORED` for every set, or nothing but `MN` at the end. Anything else is of another length.
    case $CLIENT in
    nc-text)  wanted=$((count * 8)) ;;
    nc-quiet) wanted=4 ;;
    esac
    if [ "$answer" -ne "$wanted" ]; then
        echo "load.sh: the server answered with $answer bytes instead of $wanted" >&2
        exit 1
    fi
    echo "$count sets"
    ;;
*)
    echo "load.sh: no such client: $CLIENT" >&2
    exit 2
    ;;
esac
