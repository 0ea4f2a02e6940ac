#!/bin/sh
# Fetches one file of Debian's archive for a study. Bakeoff calls it with
# DOWNLOAD set to an empty folder and takes the one file it finds there
# afterwards. The arguments are the file, the package, a version of it, and the
# release that has it, if that is not bookworm:
#
#   fetch-debian.sh spamassassin_4.0.1-1~deb12u1_all.deb spamassassin 4.0.1-1~deb12u1
#   fetch-debian.sh perl_5.36.0.orig.tar.xz perl 5.36.0-7+deb12u3
#   fetch-debian.sh perl_5.40.1.orig.tar.xz perl 5.40.1 trixie
#
# A name that ends in .deb is a package as it would be installed; any other is
# upstream's tarball, as the source package holds it. All of Debian's revisions
# share the tarball, but not all of their sources are served everywhere: the one
# that is named is asked for first, then whatever the release offers.
#
# Each study that needs it has a link to it. `bakeoff export` packs the file in
# place of the link; so does `cp -rL`, which copies a study's folder alone.
#
# It asks apt, through a private set of package lists that is removed at the
# end: the machine's own apt set-up is read, never changed, and root is not
# needed. Where to ask is taken from the machine's own Debian entries, so a
# mirror or a proxy that works for `apt-get install` works here too.
#
# It does not judge what it fetched. Bakeoff does: it accepts the file by the
# SHA-256 in study.toml, and does not call this script at all when it already
# holds a file of that hash.
#
# By hand:  mkdir d && DOWNLOAD=$PWD/d sh fetch-debian.sh FILE PACKAGE VERSION
# Offline:  DEBIAN_FILES=/folder/that/holds/the/files bakeoff …

set -eu
unset CDPATH

if [ $# -lt 3 ]; then
    echo "usage: DOWNLOAD=FOLDER fetch-debian.sh FILE PACKAGE VERSION [RELEASE]" >&2
    exit 2
fi
file=$1
package=$2
pinned=$3               # with a revision that is known to be served, if one is
release=${4-bookworm}   # the Debian release that carries it

case $file in
*.deb) kind=deb     from="pool/main/*/*/" ;;
*)     kind=deb-src from="pool/main/*/$package/" ;;
esac

fail() {
    echo "fetch-debian.sh: cannot get $file: $1" >&2
    echo "fetch-debian.sh: remedy: copy $file from any Debian mirror or snapshot ($from)" >&2
    echo "fetch-debian.sh: into a folder and set DEBIAN_FILES to it; its hash is checked all the same" >&2
    exit 1
}

[ -n "${DOWNLOAD-}" ] || fail "DOWNLOAD is not set (the folder that shall hold the file)"
download=$(cd -- "$DOWNLOAD" && pwd) || fail "DOWNLOAD is not a folder: $DOWNLOAD"

if [ -n "${DEBIAN_FILES-}" ] && [ -f "$DEBIAN_FILES/$file" ]; then
    cp -- "$DEBIAN_FILES/$file" "$download/$file" || fail "it cannot be copied from $DEBIAN_FILES"
    exit 0
fi

command -v apt-get > /dev/null || fail "there is no apt-get on this machine"
LC_ALL=C
export LC_ALL

apt=$(mktemp -d "${TMPDIR:-/tmp}/fetch-debian.XXXXXX") || fail "no temporary folder can be made"
apt=$(cd -- "$apt" && pwd)
trap 'rm -rf -- "$apt"' EXIT
trap 'exit 1' HUP INT TERM
mkdir -p "$apt/parts" "$apt/lists/partial" "$apt/cache/archives/partial" "$apt/files"
: > "$apt/status"

# The machine's Debian entries, turned into entries for the one kind of package
# and our release. An entry is Debian's own when it offers the component `main`, its
# suite is a Debian release (or its -updates or -security), and no keyring
# other than Debian's is named for it; anything else (a vendor's packages,
# backports) is left out.
names='bookworm|bullseye|buster|trixie|forky|duke|sid|oldoldstable|oldstable|stable|testing|unstable'

eval "$(apt-config shell main Dir::Etc::sourcelist/f more Dir::Etc::sourceparts/d)"
n=0
for list in "${main-}" "${more%/}"/*.list "${more%/}"/*.sources; do
    [ -f "$list" ] && [ -r "$list" ] || continue
    n=$((n + 1))
    case $list in
    *.sources)   # stanzas of `Field: value`, parted by empty lines
        awk -v kind="$kind" -v names="$names" -v release="$release" '
            function flush(   i, k, part, suites, seen) {
                k = split(suite, part, /[ \t]+/)
                suites = ""
                for (i = 1; i <= k; i++)
                    if (part[i] ~ "^(" names ")(-updates|-security)?$") {
                        sub("^(" names ")", release, part[i])
                        if (!(part[i] in seen)) suites = suites " " part[i]
                        seen[part[i]] = 1
                    }
                if (suites != "" && (" " comps " ") ~ /[ \t]main[ \t]/ && !off && !foreign)
                    print "Types: " kind "\nSuites:" suites "\nComponents: main\n" rest
                suite = comps = rest = field = ""; off = foreign = 0
            }
            /^#/ { next }
            /^[ \t]*$/ { flush(); next }
            {
                if ($0 !~ /^[ \t]/) { field = tolower($0); sub(/[ \t]*:.*/, "", field) }
                value = $0; if ($0 !~ /^[ \t]/) sub(/^[^:]*:/, "", value)
                if (field == "types" || field == "architectures") next
                if (field == "suites") { suite = suite " " value; next }
                if (field == "components") { comps = comps " " value; next }
                if (field == "enabled" && tolower(value) ~ /no|false|off|0/) off = 1
                if (field == "signed-by" && value ~ /\// && value !~ /debian-archive/) foreign = 1
                rest = rest $0 "\n"
            }
            END { flush() }' "$list" > "$apt/parts/$n.sources" ;;
    *)           # one line per entry: deb [options] address suite component…
        awk -v kind="$kind" -v names="$names" -v release="$release" '
            { sub(/#.*/, "") }
            $1 != "deb" && $1 != "deb-src" { next }
            {
                options = ""; line = $0
                sub(/^[ \t]*deb(-src)?[ \t]+/, "", line)
                if (match(line, /^\[[^]]*\][ \t]*/)) {
                    options = substr(line, 1, RLENGTH); line = substr(line, RLENGTH + 1)
                    gsub(/arch=[^] \t]*/, "", options)
                    if (options ~ /^\[[ \t]*\]/) options = ""
                }
                if (options ~ /signed-by=/ && options !~ /debian-archive/) next
                k = split(line, part, /[ \t]+/); main = 0
                for (i = 3; i <= k; i++) if (part[i] == "main") main = 1
                if (!main || part[2] !~ "^(" names ")(-updates|-security)?$") next
                sub("^(" names ")", release, part[2])
                entry = kind " " options part[1] " " part[2] " main"
                if (!(entry in seen)) print entry
                seen[entry] = 1
            }' "$list" > "$apt/parts/$n.list" ;;
    esac
done
find "$apt/parts" -type f -size 0 -exec rm -f {} +
[ -n "$(ls -A "$apt/parts")" ] || fail "apt's sources name no Debian archive on this machine"

# Everything that apt would write goes into the private folder, and what the
# machine asks apt to do after an update (clean, notify) is not done.
cat > "$apt/apt.conf" <<END
Dir::Etc::sourcelist "/dev/null";
Dir::Etc::sourceparts "$apt/parts";
Dir::State::lists "$apt/lists";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
APT::Sandbox::User "root";
APT::Get::List-Cleanup "false";
Acquire::Languages "none";
Acquire::Retries "3";
#clear APT::Update::Pre-Invoke;
#clear APT::Update::Post-Invoke;
#clear APT::Update::Post-Invoke-Success;
END

# One archive of several may be out of reach; that is only a failure when no
# source package is found in the others.
apt-get -q -c "$apt/apt.conf" update > "$apt/log" 2>&1 || :

cd "$apt/files"
if [ "$kind" = deb ]; then
    offered=$(apt-cache -c "$apt/apt.conf" madison "$package" 2>> "$apt/log" |
        awk '{ print $3 }' | sort -u | tr '\n' ' ')
    apt-get -q -c "$apt/apt.conf" download "$package=$pinned" >> "$apt/log" 2>&1 || :
else
    # The tarball counts even if something that comes with it (Debian's patches)
    # did not arrive.
    offered=$(apt-cache -c "$apt/apt.conf" showsrc --only-source "$package" 2>> "$apt/log" |
        sed -n "s/^Version: \(${pinned%-*}-.*\)/\1/p" | sort -ru | tr '\n' ' ')
    for version in $pinned $offered; do
        apt-get -q -c "$apt/apt.conf" source --download-only "$package=$version" >> "$apt/log" 2>&1 || :
        [ ! -f "$file" ] || break
    done
fi
if [ -f "$file" ]; then
    mv -- "$file" "$download/$file"
    exit 0
fi

tail -n 12 "$apt/log" | sed 's/^/  apt: /' >&2
fail "apt cannot download $package $pinned from $release (offered: ${offered:-no version of it})"
