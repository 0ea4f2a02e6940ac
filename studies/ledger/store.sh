#!/bin/sh
# What is behind the daemon: with DATABASE=postgresql a cluster of its own in this
# service's folder, on 127.0.0.1:$PORT_store, gone with the trial. SQLite needs
# nothing, so there it only waits. It is not how one keeps a real cluster.

set -eu

if [ "$DATABASE" != postgresql ]; then
    echo "store: SQLite is ready to accept connections: it is a file"
    exec sleep 1000000
fi

bin=$(ls -d /usr/lib/postgresql/*/bin 2> /dev/null | sort -V | tail -n 1)
[ -x "$bin/initdb" ] || { echo "store: there is no PostgreSQL: apt-get install postgresql-15" >&2; exit 1; }

# PostgreSQL does not work for root. Its own user needs a way into this folder, also
# where the folders above are closed to others: it may search all, and no more.
as=
data=$TMPDIR/cluster
mkdir -m 700 "$data"
if [ "$(id -u)" -eq 0 ]; then
    as="setpriv --reuid=postgres --regid=postgres --clear-groups --inh-caps=+dac_read_search --ambient-caps=+dac_read_search"
    chown postgres "$data"
fi
cd /

$as "$bin/initdb" -D "$data" -U postgres -A trust -E UTF8 --locale=C --no-sync > /dev/null
# A commit does not wait for the disk, nor does it with SQLite's write-ahead log.
exec $as "$bin/postgres" -D "$data" -c listen_addresses=127.0.0.1 -p "$PORT_store" \
    -c unix_socket_directories= -c synchronous_commit=off -c jit=off
