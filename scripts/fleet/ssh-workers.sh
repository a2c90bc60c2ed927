#!/bin/bash
# Starts a worker on each machine named, over ssh, or stops them:
#   TENGEN_STORE=postgres://… scripts/fleet/ssh-workers.sh start box1 box2 …
#   scripts/fleet/ssh-workers.sh stop box1 box2 …
# Needs `tengen` on each machine's path, and a home folder of its own there for the spool.
set -euo pipefail
action="${1:?start or stop}"
shift
for box in "$@"; do
    case "$action" in
    # The run's address goes through standard input and the environment, so that no process list shows it.
    start) ssh "$box" 'read -r TENGEN_STORE; export TENGEN_STORE; mkdir -p tengen-spool;
        nohup tengen selfplay --store env:TENGEN_STORE --spool tengen-spool >tengen-spool/out.log 2>&1 </dev/null &
        echo $! >tengen-spool/pid' <<<"${TENGEN_STORE:?give the run, postgres://…}" ;;
    # One SIGTERM: the worker finishes, ships and exits within 20 s.
    stop) ssh "$box" 'kill "$(cat tengen-spool/pid)"' ;;
    *) echo "start or stop, not $action" >&2; exit 2 ;;
    esac
    echo "$box: $action"
done
