# Runs one shard, or the builds, on a machine that ssh reaches, once nothing else of this folder runs there:
# PROGRAM RUN NAME FOLDER MACHINE. Descriptor 9 is the lock of the shard; it is held for as long as this shell lives.
program=$1 run=$2 name=$3 folder=$4 machine=$5
cd "$run/shards/$name" || exit
note() {
    echo "$$ $(cut -d " " -f 22 "/proc/$$/stat") $1 $(date "+%F %R")" > .pid && mv -f .pid pid
}
note waits
exec 8>> "$folder/$(uname -n).lock"
flock 8
note runs
what=$name
if [ "$name" = build ]; then
    what=--build
    rm -f "$run/build.status"
fi
# Whoever ends the group ends Bakeoff, which takes a moment; until then the lock says that it is there.
trap : INT TERM HUP
"$program" shard "$run" "$what" --node "$machine" >> log 2>&1 8>&- 9>&-
