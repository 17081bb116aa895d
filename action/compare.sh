#!/bin/bash
# One comparison in a job: the table goes to the job's summary, the verdict to its outputs.
#
#   ARGUMENTS  what follows `wirelab compare`
#   UNDECIDED  fail or pass
#   WIRELAB    the program
set -uo pipefail

case "${UNDECIDED:-pass}" in
    fail | pass) ;;
    *)
        echo "::error::undecided: '$UNDECIDED' is neither fail nor pass"
        exit 2
        ;;
esac

# The arguments are split as a shell would, without running anything in them.
arguments=()
while IFS= read -r -d '' word; do
    arguments+=("$word")
done < <(printf '%s' "$ARGUMENTS" | xargs printf '%s\0')

page=$(mktemp)
trap 'rm -f "$page"' EXIT
"${WIRELAB:-wirelab}" compare "${arguments[@]}" --markdown "$page"
code=$?
[ -s "$page" ] && cat "$page" >>"${GITHUB_STEP_SUMMARY:-/dev/stdout}"

outcome=$(sed -n '1s/.*: //p' "$page")
echo "outcome=$outcome" >>"${GITHUB_OUTPUT:-/dev/stdout}"
if [ "$code" -eq 5 ] && [ "${UNDECIDED:-pass}" = pass ]; then
    echo "::warning::undecided: more pairs may tell (--pairs)"
    exit 0
fi
[ "$code" -eq 1 ] && echo "::error::the second service does not pass: ${outcome:-no result}"
exit "$code"
