#!/usr/bin/env bash
# A nightly list, for cron:  15 3 * * * timeout 20h /opt/lists/nightly.sh /opt/lists
# Options after the folder, by their long names, take the place of those below: --country DE, or --local for
# a first try.
set -uo pipefail
if [ $# -eq 0 ]; then
  echo 'usage: nightly.sh FOLDER [--OPTION=VALUE...]' >&2
  exit 2
fi
cd "$1" || exit 2
shift
# A signal to the script ends sluice, once, in a process group of its own: the script goes on to say so.
trap 'kill -TERM "$running" 2>/dev/null' TERM INT HUP
running=''

# cron knows few folders, and no environment: sluice.env (mode 0600) has SLUICE_BASE_URL and SLUICE_API_KEY.
PATH="$PATH:/usr/local/bin:$PWD/node_modules/.bin"
environment=()
if [ -f sluice.env ]; then environment=(--env-file sluice.env); fi

# The log of the night before is kept. Each night reads its own, also when the next one has begun.
if [ -f sluice.log ]; then mv -f sluice.log sluice.log.1; fi
exec 3>> sluice.log 4< sluice.log
reports() { cksum summary.json report.html 2> /dev/null; }
before=$(reports)

# The state directory is the lock: this run waits for one that is still at work, then ends with 2.
# An address that was verified within 30 days comes from the history and costs nothing. A night that
# stopped is resumed by the next one, also if the list has changed. A list without rows, or with less than
# half of those of the night before, is not sent, and the old output stays.
options=(
  --email=email --country=US --output=verified.csv --history=contacts.history --max-age=30
  --max-credits=10000 --max-unknown=20 --min-rows=1 --max-shrink=50 --wait-lock=600
  --summary=summary.json --report=report.html --no-progress
)
verify() {
  local own=() option given
  for option in "${options[@]}"; do
    for given in "$@"; do [ "${given%%=*}" != "${option%%=*}" ] || continue 2; done
    own+=("$option")
  done
  # -m gives it a group of its own; without it wait goes on where SIGSTOP holds sluice.
  set -m
  sluice verify contacts.csv "${own[@]}" ${environment[@]+"${environment[@]}"} "$@" 2>&3 &
  running=$!
  set +m
  # A signal interrupts the wait.
  while wait "$running"; code=$?; kill -0 "$running" 2>/dev/null; do :; done
}

code=0
verify "$@"
# Only what failed is sent again, once.
again=''
if [ "$code" -eq 3 ]; then
  again=': what had failed was sent again'
  verify --retry-failed "$@"
fi

# A run removes the reports of the night before, but not where a wrong option ends it before it starts. Until
# then the summary says which service it had: without SLUICE_BASE_URL the local one does not take its place.
if [ "$(reports)" = "$before" ]; then rm -f summary.json report.html; fi

# What the next run does, resume or start over, is in the log and the report.
case "$code" in
  0) echo "verified.csv is complete$again" ;;
  1) echo 'a defect in Sluice: report it with sluice.log' ;;
  2) echo 'nothing was sent: fix what the log says' ;;
  3) echo 'verified.csv is complete, except for failed rows: the log says what the next run does' ;;
  4) echo 'the key was refused: set another' ;;
  5) echo 'the credits, or those of --max-credits, are used up: buy some or raise it, as the log says' ;;
  6) echo 'the list, the output or the disk failed: fix what the log says' ;;
  7) echo 'the service failed' ;;
  8) echo 'suspect: verified.csv was not written, the log says what to look at' ;;
  75) echo 'left to the service: the next run collects' ;;
  130 | 143) echo 'stopped from outside, as by timeout: the next run resumes' ;;
  137) echo 'killed (137), or no memory was left: the next run resumes' ;;
  126 | 127) echo "nothing was sent: sluice or node is not in a folder of PATH=$PATH" ;;
  *) echo "stopped ($code)" ;;
esac
# A night that is done may have to be looked at, too. The last line is all of it in one.
log=$(cat <&4)
case "$code" in
  0) lines=1 ;;
  1) lines=30 ;; # The trace of a defect is longer.
  *) lines=5 ;;
esac
end=$(tail -n "$lines" <<< "$log")
grep -E 'warning: |"severity":"warning"' <<< "$log" | grep -vxF -e "$end"
if [ "$code" -ne 0 ]; then echo 'sluice.log ends with:'; fi
echo "$end"
exit "$code"
