#!/bin/sh
# Crawl a spider from scratch, and publish its items if the crawl was good:
#
#   ./nightly.sh [SPIDER | SPIDER@JOB]
#
# The items of a good night replace SPIDER.jsonl in one step. After a bad night SPIDER.jsonl is still that of the last good one, the
# alert is sent, and the exit code is not 0. SPIDER.log has the log of the last night.
spider=${1:-quotes}
case $spider in *@*) export JOB="${spider#*@}" ;; esac

# A command that gets the message of a bad night on its standard input. Standard error goes to the mail of cron, to the journal of
# systemd or to the log of Airflow. For a mail of your own: alert='mail -s nightly you@example.com'
alert='cat >&2'

# Send the alert, and end with the exit code of the step.
fail() {
  message="nightly: $spider: $2 failed with exit code $1. $spider.jsonl was not replaced."
  { echo "$message"; echo "The end of $spider.log:"; tail -n 15 "$spider.log"; } 2>&1 | sh -c "$alert" ||
    echo "$message The alert could not be sent." >&2
  exit "$1"
}

cd "$(dirname "$(readlink -f "$0")")" || exit 1
exec 9>"$spider.lock"
flock -n 9 || fail 75 'the start, because another night is still running,'

# --all: also items that a bad night committed, but has not written to its file.
crawlnode reset "${spider%%@*}" --all --yes >"$spider.log" 2>&1 || fail $? 'the reset'

# What a good night has, and how many seconds it may take at most: adapt this to your spider. The crawl runs in the background, so
# that a signal to this script reaches it.
crawlnode crawl "${spider%%@*}" -O "$spider.new.jsonl" --exit-when-done --must-finish \
  --min-items 50 --max-failed 5 --max-status 404=5%,5xx=1% -s CLOSESPIDER_TIMEOUT=14400 \
  >>"$spider.log" 2>&1 &
crawl=$!
stopped=
trap 'stopped=yes; kill -TERM "$crawl" 2>/dev/null' HUP INT TERM
wait "$crawl"
code=$?
# A signal ends "wait" before the crawl has ended.
while [ -n "$stopped" ]; do
  stopped=
  wait "$crawl"
  code=$?
done
[ "$code" -eq 0 ] || fail "$code" 'the crawl'

mv "$spider.new.jsonl" "$spider.jsonl" || fail $? 'the publication'
