#!/bin/bash
# Starts a worker on each machine named, over ssh, looks after them, or stops them:
#   TENGEN_STORE=postgres://… scripts/fleet/ssh-workers.sh start box1 box2 …
#   scripts/fleet/ssh-workers.sh status box1 box2 …
#   scripts/fleet/ssh-workers.sh stop box1 box2 …
# SSH names another ssh, with options: SSH="ssh -p 2222".
# shellcheck disable=SC2016  # what stands in single quotes is for the other machine
# Needs `tengen` on each machine's path, and a home folder of its own there for the spool.
set -euo pipefail
action="${1:?start, status or stop}"
shift
case "$action" in start | status | stop) ;; *) echo "start, status or stop, not $action" >&2; exit 2 ;; esac
read -ra ssh <<<"${SSH:-ssh}"
failed=0
for box in "$@"; do
    case "$action" in
    # The run's address goes through standard input and the environment, so that no process list shows it.
    # A second worker on the same spool would end by itself; it must not take the first one's pid with it.
    start) told=$("${ssh[@]}" "$box" 'read -r TENGEN_STORE; export TENGEN_STORE; mkdir -p tengen-spool;
        if [ -s tengen-spool/pid ] && kill -0 "$(cat tengen-spool/pid)" 2>/dev/null; then echo "runs already"; exit; fi
        nohup tengen selfplay --store env:TENGEN_STORE --spool tengen-spool >tengen-spool/out.log 2>&1 </dev/null &
        echo $! >tengen-spool/pid; echo started' <<<"${TENGEN_STORE:?give the run, postgres://…}") ;;
    status) told=$("${ssh[@]}" "$box" '
        if [ -s tengen-spool/pid ] && kill -0 "$(cat tengen-spool/pid)" 2>/dev/null; then echo "runs"; else echo "does not run"; fi
        tail -n 1 tengen-spool/out.log 2>/dev/null' </dev/null) ;;
    # One SIGTERM: the worker finishes, ships and exits within 20 s.
    stop) told=$("${ssh[@]}" "$box" 'kill "$(cat tengen-spool/pid)" && echo "told to stop"' </dev/null) ;;
    esac || { told="failed"; failed=1; }
    echo "$box: $told"
done
exit "$failed"
