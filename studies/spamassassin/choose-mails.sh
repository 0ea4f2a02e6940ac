# Chooses 178 of the 6,046 mails of the public SpamAssassin corpus and installs
# them into $PREFIX/mails. Bakeoff executes it in the unpacked package, where
# the mails are data/FOLDER/NUMBER.HASH.txt. It changes no byte of them.
#
# The rule: the six largest mails; and of all others, in the order of their
# names, the 25th and every 35th after it.
#
# Why so: every 35th alone would be a fair picture of the corpus, folder by
# folder, but its mails are half as long as those of the measurement that this
# study re-does (178 mails, mean 11,719 bytes, largest 410,014), and time goes
# by length. With the six largest the mean is 11,709 and the largest 300,734.
# Beginning with the 25th brings the mean as near as such a rule can.
#
# A mail is called FOLDER.NUMBER here: spam-1.00341.

set -eu
LC_ALL=C        # names in the order of their bytes, whatever the machine's language
export LC_ALL

largest=6
first=25
step=35
expected=178

cd data
find . -type f -name '*.txt' -exec wc -c {} + | grep -v ' total$' |
    sort -k1,1nr -k2,2 |                        # by size; `BYTES ./FOLDER/NUMBER.HASH.txt`
    awk -v n="$largest" '{ print (NR <= n ? "large" : "other"), $2 }' |
    sort -k1,1 -k2,2 |                          # the large ones, then the others by name
    awk -v first="$first" -v step="$step" '
        $1 == "large" { print $2; next }
        ++n % step == first % step { print $2 }' > ../chosen

mkdir -p "$PREFIX/mails"
while read -r file; do
    folder=${file#./}
    folder=${folder%%/*}
    number=${file##*/}
    number=${number%%.*}
    cp "$file" "$PREFIX/mails/$folder.$number"
done < ../chosen

found=$(ls "$PREFIX/mails" | wc -l)
if [ "$found" -ne "$expected" ]; then
    echo "choose-mails.sh: $found mails were chosen, not $expected: is this the corpus of 6,046?" >&2
    exit 1
fi
