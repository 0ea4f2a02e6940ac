# The workload: Perl's own tests, in a copy of the tree that is in $PREFIX, since
# they write where they are. The first argument says how many are executed at
# once; the others are patterns of test files in the tree's t/, or nothing, which
# means all of them, those of Perl's libraries too.
#
#   sh test.sh 2                    about 2,750 files
#   sh test.sh 2 'op/*.t'           those of Perl's operators
#
# It prints that all tests passed, or else which of them did not, and marks how
# many test files there were. Copying is a phase of its own, so that it is not
# judged.

set -eu

marks=${BAKEOFF_MARKS:-2}
jobs=$1
shift

echo "phase copy" >&"$marks"
cp -a "$PREFIX/tree" "$TMPDIR/tree"
cd "$TMPDIR/tree/t"

log=$TMPDIR/harness.log

echo "phase test" >&"$marks"
failed=0
# shellcheck disable=SC2086,SC2048  # patterns on purpose
TEST_JOBS=$jobs ./perl harness $* > "$log" 2>&1 < /dev/null || failed=$?
echo "phase close" >&"$marks"

if [ "$failed" -ne 0 ]; then
    sed -n '/^Test Summary Report/,$p' "$log" | grep -v '^Files=' >&2
    tail -n 3 "$log" >&2
    exit 1
fi
sed -n 's/^Files=\([0-9]*\),.*/value files \1/p' "$log" >&"$marks"
grep '^All tests successful' "$log"
