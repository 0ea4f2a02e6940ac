# The test of setload: that all of its sets arrive, that it gives up where it
# should, and that a pause of the server is charged to the sets of that time.
# Bakeoff executes it as soon as setload is built; a setload that fails is not
# used. It needs memcached and nc.openbsd, and takes a few seconds.
#
#   test-setload.sh SETLOAD CHECK-SETS.SH

set -eu

setload=$1
check=$2

fail() {
    echo "test-setload.sh: $1" >&2
    exit 1
}

# A server of our own, on a port that it has chosen itself.
place=$(mktemp -d)
server=
trap 'stop_server; rm -rf "$place"' EXIT

stop_server() {
    [ -n "$server" ] || return 0
    kill -CONT "$server" || :           # it may be paused
    kill "$server" || :
    wait "$server" || :
    server=
}

start_server() {
    stop_server
    rm -f "$place/port"
    MEMCACHED_PORT_FILENAME=$place/port memcached -u "$(id -un)" -l 127.0.0.1 -p -1 -U 0 -t 2 &
    server=$!
    for _ in 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16 17 18 19 20; do
        port=$(sed -n 's/^TCP INET: //p' "$place/port" 2> /dev/null || :)
        [ -z "$port" ] || return 0
        sleep 0.25
    done
    fail "memcached does not start"
}

unset BAKEOFF_MARKS     # marks go to the standard error

# Closed: one after the other; windows that do not divide the number; more sets than fit into the buffers of a socket.
for arguments in '-n 100' '-n 1000 -c 3 -w 7' '-n 200000 -w 100000' '-n 2 -c 5' '-n 10 -s 100000 -w 10'; do
    start_server
    # shellcheck disable=SC2086  # words on purpose
    said=$("$setload" -p "$port" $arguments 2> "$place/marks") || fail "$arguments: $(cat "$place/marks")"
    count=${arguments#-n }
    count=${count%% *}
    [ "$said" = "$count sets" ] || fail "$arguments: it says: $said"
    sh "$check" "$port" "$count" || fail "$arguments: the server counts otherwise"
    [ "$(grep -c '^phase ' "$place/marks")" = 3 ] || fail "$arguments: not three phases"
done

# Open, and either the server or setload itself pauses for 0.8 s of 2 s: about four of ten sets are late, and one in ten
# is late by at least 0.6 s. A sender that waits for the server, or counts from when it could send, would find hardly any.
for paused in server sender; do
    start_server
    "$setload" -p "$port" -n 2000 -r 1000 -c 2 -l > "$place/said" 2> "$place/marks" &
    sender=$!
    sleep 0.3
    eval "kill -STOP \$$paused; sleep 0.8; kill -CONT \$$paused"
    wait "$sender" || fail "open: $(tail -n 1 "$place/marks")"
    sh "$check" "$port" 2000 || fail "open: the server counts otherwise"
    [ "$(grep -c '^op ' "$place/marks")" = 2000 ] || fail "open: not a latency for each set"
    sed -n 's/^value latency.p90 \([0-9.]*\) s$/\1/p' "$place/marks" |
        awk '{ found = 1; if ($1 < 0.3) exit 1 } END { if (!found) exit 1 }' ||
        fail "open: the pause of the $paused is not in the latencies: $(grep '^value latency' "$place/marks" | tr '\n' ' ')"
done

# What must fail, and what it must say.
refused() {
    wanted=$1
    shift
    if "$setload" "$@" > "$place/said" 2> "$place/marks"; then fail "$* succeeded"; fi
    grep -q "$wanted" "$place/marks" || fail "$*: it should say \`$wanted\` and says: $(cat "$place/marks")"
}
refused 'answered: SERVER_ERROR object too large' -p "$port" -n 1 -s 2000000
refused 'takes a number' -p "$port" -n many
refused 'usage' -n 1
stop_server
refused 'is memcached there' -p "$port" -n 1
