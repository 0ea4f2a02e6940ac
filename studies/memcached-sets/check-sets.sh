# Asks the memcached at PORT what it has done since it was started:
#
#   check-sets.sh PORT COUNT
#
# It must have executed exactly COUNT commands that set something, and hold as
# many items. Only the server can be asked: a client may drop sets, and say
# nothing, and be faster for it.

set -eu

port=$1
count=$2

stats=$(printf 'stats\r\nquit\r\n' | nc.openbsd -w 10 127.0.0.1 "$port" | tr -d '\r')

stat() {
    printf '%s\n' "$stats" | sed -n "s/^STAT $1 //p"
}

sets=$(stat cmd_set)
items=$(stat curr_items)
if [ "$sets" != "$count" ] || [ "$items" != "$count" ]; then
    echo "check-sets.sh: of $count sets the server executed ${sets:-(no answer)} and holds ${items:-(no answer)}" >&2
    exit 1
fi
