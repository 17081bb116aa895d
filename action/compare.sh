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

page=$(mktemp)
trap 'rm -f "$page"' EXIT
# The program splits the arguments, without running anything in them.
"${WIRELAB:-wirelab}" compare --arguments "$ARGUMENTS" --markdown "$page"
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
