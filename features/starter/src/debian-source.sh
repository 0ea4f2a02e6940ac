#!/bin/sh
# Leaves a Debian source package, unpacked and patched, in the folder $DOWNLOAD:  debian-source.sh PACKAGE
#
# Bakeoff executes it, and accepts what it leaves by the hash in study.toml. It asks apt through a private set-up, made of
# this machine's own entries with `deb-src` in the place of `deb`; the machine's is not changed, and root is not needed.
set -eu
LC_ALL=C
export LC_ALL
command -v apt-get > /dev/null || { echo "there is no apt-get on this machine" >&2; exit 1; }
command -v dpkg-source > /dev/null || { echo "dpkg-source is missing; install the package dpkg-dev" >&2; exit 1; }
apt=$(mktemp -d)
trap 'rm -rf "$apt"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial"
: > "$apt/status"
eval "$(apt-config shell list Dir::Etc::sourcelist/f parts Dir::Etc::sourceparts/d)"
for file in "${list-}" "${parts%/}"/*.list "${parts%/}"/*.sources; do
    [ -f "$file" ] && [ -r "$file" ] || continue
    case $file in
    *.sources) sed 's/^Types:.*/Types: deb-src/' ;;
    *) sed -n 's/^[[:space:]]*deb\(-src\)\{0,1\}[[:space:]]/deb-src /p' ;;
    esac < "$file" > "$apt/parts/${file##*/}"
done
cat > "$apt/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/parts";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
APT::Sandbox::User "root";
Acquire::Languages "none";
Acquire::Retries "3";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END
# One archive of several may be out of reach; that matters only if no other has the package.
apt-get -q -c "$apt/apt.conf" update > "$apt/log" 2>&1 || :
cd "$DOWNLOAD"
if ! apt-get -qq -c "$apt/apt.conf" source "$1" >> "$apt/log" 2>&1; then
    grep -e '^E:' -e error: "$apt/log" >&2 || tail -n 12 "$apt/log" >&2
    exit 1
fi
find . -maxdepth 1 -type f -exec rm -f {} +
