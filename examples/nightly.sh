#!/usr/bin/env bash
# A nightly list, for cron:  15 3 * * * /opt/lists/nightly.sh /opt/lists
# Options behind the folder are passed on, such as --local for a first try.
set -uo pipefail
cd "$1" || exit 2
shift

# The state directory is the lock: a run that is still under way makes this one wait, then end with 2.
# What was verified within 30 days is known from the history, and costs nothing.
sluice verify contacts.csv --email email --country US -o verified.csv \
  --history verified.history --max-age 30 --max-credits 10000 \
  --wait-lock 600 --summary summary.json --json-log "$@" 2>> sluice.log
code=$?

case "$code" in
  0) echo 'verified.csv is complete' ;;
  3) echo 'verified.csv is complete, but for rows that failed: run with --retry-failed' ;;
  2) echo 'nothing was sent: see sluice.log' ;;
  4) echo 'the key was refused: set another, the next run goes on' ;;
  5) echo 'credits are used up: the next run goes on' ;;
  6 | 7) echo 'stopped: the next run goes on' ;;
  *) echo "ended with $code" ;;
esac
exit "$code"
