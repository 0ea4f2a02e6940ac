# What Bakeoff does on a machine that ssh reaches, one action a call:  ACTION FOLDER RUN WORD...
# A call may be cut off at any line, and is then made again. There are no single quotes and no exclamation marks in here, so
# that every login shell can hand this text to sh.
set -u
echo bakeoff-far
action=$1 folder=$2 id=$3
shift 3
cd && mkdir -p -- "$folder/programs" "$folder/runs/$id/shards" && cd -- "$folder" || exit 1
folder=$PWD run=$PWD/runs/$id
cd -- "$run" || exit 1
part=.part.$(uname -n).$$
sum() { sha256sum | cut -c 1-64; }
# Whether a shard has a process. A lock ends with its holder, whatever ends that.
held() { [ -e "shards/$1/lock" ] && if flock -s -n "shards/$1/lock" true; then false; fi; }
# Takes a file of that digest from the connection. Exit code 75: what came is not all of it.
take() { cat > "$1" && if [ "$(sum < "$1")" = "$2" ]; then true; else rm -f "$1"; exit 75; fi; }
file() { if [ -f "$1" ]; then echo "file $(wc -c < "$1") $1"; fi; }

case $action in
look) # PROGRAM
    for tool in cut cat date find flock head mv rm setsid sha256sum tail tar wc; do
        command -v "$tool" > /dev/null || echo "lacks $tool"
    done
    if [ -x "$folder/programs/$1" ]; then echo program; fi
    if [ -d study ]; then echo study; fi
    if [ -f order.json ]; then echo "order $(sum < order.json)"; fi
    # What calls left that were cut off.
    find "$folder/programs" . -maxdepth 1 -name ".part.*" -mmin +60 -exec rm -rf {} +
    ;;
program) # DIGEST
    part=$folder/programs/$part
    take "$part" "$1" && chmod 755 "$part" && mv -f "$part" "$folder/programs/$1"
    ;;
order) # DIGEST
    take "$part" "$1" && mv -f "$part" order.json
    ;;
study) # DIGEST of a tar
    mkdir -p "$part/study" && (take "$part/tar" "$1") || exit
    tar -C "$part/study" -xf "$part/tar" || exit 1
    # Another call may have been faster, with the same files.
    mv -T "$part/study" study 2> "$part/why" || [ -d study ] || cat "$part/why" >&2
    rm -rf "$part"
    [ -d study ]
    ;;
try) # PROGRAM
    exec "$folder/programs/$1" --version
    ;;
start) # PROGRAM RUNNER MACHINE NAME...
    program=$folder/programs/$1 runner=$2 machine=$3
    shift 3
    for name; do
        mkdir -p "shards/$name" || exit 1
        if [ -e "shards/$name/done" ]; then continue; fi
        # The log has what a prelude prints that fails before Bakeoff begins. The started process keeps the lock. The wait is short,
        # because a question holds the lock for a moment.
        (flock -w 2 9 && setsid -f sh -c "$runner" runner "$program" "$run" "$name" "$folder" "$machine" \
            < /dev/null >> "shards/$name/log" 2>&1) 9>> "shards/$name/lock"
    done
    true
    ;;
list) # SHARD...
    for name in build "$@"; do
        if held "$name"; then
            state=waits since=
            if [ -r "shards/$name/pid" ]; then read -r pid start state since < "shards/$name/pid"; fi
            echo "job $name $state $since"
        fi
    done
    for name; do
        # First, so that the journals below are whole if it is there.
        finished=
        if [ -f "shards/$name/done" ]; then finished=shards/$name/done; fi
        for path in "shards/$name/"*/journal.jsonl "shards/$name/"*/log "shards/$name/"*/status "shards/$name/log"; do
            file "$path"
        done
        if [ -n "$finished" ]; then file "$finished"; fi
    done
    file builds.json
    file shards/build/log
    if held build; then true; else
        file build.log
        file build.status
    fi
    true
    ;;
give) # PATH OFFSET LENGTH...
    while [ $# -gt 0 ]; do
        tail -c "+$(($2 + 1))" "$1" | head -c "$3"
        shift 3
    done
    ;;
cancel) # SHARD...
    for name in build "$@"; do
        if held "$name" && [ -r "shards/$name/pid" ]; then
            read -r pid start state since < "shards/$name/pid"
            # The number alone may be that of another process by now.
            if [ "$(cut -d " " -f 22 "/proc/$pid/stat" 2> /dev/null)" = "$start" ]; then kill -s TERM -- "-$pid"; fi
        fi
    done
    for name in build "$@"; do
        if [ -e "shards/$name/lock" ]; then flock -s -w 30 "shards/$name/lock" true || echo "$name"; fi
    done
    true
    ;;
esac
