# Computes what a client would send, once and for all: the floor under every
# client is to push these bytes through a socket with netcat.
#
#   make-streams.sh COUNT SIZE
#
# text: the same requests that the Java client sends; each is answered.
# quiet: the meta commands with which memcached answers only what went wrong; an
# `mn` at the end is answered when all before it is done.
#
# Both end with `quit`, or netcat would wait for a server that waits for netcat.

set -eu

count=$1
size=$2

mkdir -p "$PREFIX/streams"
stream() {
    awk -v count="$count" -v size="$size" -v last="$2" -v form="$1" 'BEGIN {
        value = sprintf("%*s", size, "")
        gsub(/ /, "a", value)
        for (i = 0; i < count; i++) printf form, i, size, value
        printf "%s", last
    }'
}
stream 'set k%d 0 300 %d\r\n%s\r\n' 'quit\r\n'      > "$PREFIX/streams/text-$count-$size"
stream 'ms k%d %d T300 q\r\n%s\r\n' 'mn\r\nquit\r\n' > "$PREFIX/streams/quiet-$count-$size"
