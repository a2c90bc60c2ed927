#!/bin/bash
# A worker that gets its network from a real S3 and from nowhere else, then from a bucket that is gone:
#   scripts/s3_fleet.sh BINARY        # built with --features s3; minutes; moto's server comes from PyPI
set -euo pipefail
cd "$(dirname "$0")/.."
binary=$(readlink -f "${1:?name a tengen built with --features s3}")
moto=$(scripts/moto.sh)
tmp=$(mktemp -d)
children=()
# shellcheck disable=SC2329  # called by the trap
clean_up() {
    for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
    rm -rf "$tmp"
}
trap clean_up EXIT
fail() {
    echo "FAILED: $*" >&2
    tail -n 5 "$tmp"/*.log >&2
    exit 1
}

port=$((20000 + RANDOM % 20000))
"$moto" -H 127.0.0.1 -p "$port" >"$tmp/moto.log" 2>&1 &
server=$!
children+=("$server")
export AWS_ENDPOINT_URL=http://127.0.0.1:$port AWS_ACCESS_KEY_ID=key AWS_SECRET_ACCESS_KEY=secret
for _ in $(seq 60); do
    if curl -sf -X PUT "$AWS_ENDPOINT_URL/nets" >/dev/null; then break; fi
    sleep 1
done

run=$tmp/run
"$binary" loop --config scripts/kill_soak.toml --run "$run" --until-steps 1 >"$tmp/loop.log" 2>&1
status() { "$binary" fleet status --store "$run" --json 2>/dev/null | python3 -c "import json,sys; print(json.load(sys.stdin)$1)"; }
"$binary" janitor --store "$run" --blobs s3://nets/runs/one >"$tmp/janitor.log" 2>&1 &
janitor=$!
children+=("$janitor")
best=$(status '["best"]')
for _ in $(seq 60); do
    if curl -sf "$AWS_ENDPOINT_URL/nets/runs/one/$best.safetensors" -o "$tmp/best"; then break; fi
    sleep 1
done
cmp "$tmp/best" "$run/networks/$best.safetensors" || fail "the bucket does not hold the best network"
echo "ok: the janitor put the best network into the bucket"

# The run itself hands nothing out any more, so that it can only come from the bucket.
kill "$janitor"
wait "$janitor" || fail "the janitor did not end well"
python3 - "$run/tengen.db" <<'P'
import sqlite3, sys
db = sqlite3.connect(sys.argv[1])
db.execute("DELETE FROM network_chunks")
db.commit()
P
"$binary" selfplay --store "$run" --spool "$tmp/spool" --name box --workers 1 --no-matches \
    --blobs s3://nets/runs/one >"$tmp/worker.log" 2>&1 &
worker=$!
children+=("$worker")
games() { status '["workers"][0]["games"]' 2>/dev/null || echo 0; }
until_more_than() {
    for _ in $(seq 120); do
        if [ "$(games)" -gt "$1" ]; then return 0; fi
        sleep 1
    done
    fail "no more than $1 games"
}
until_more_than 0
echo "ok: a worker plays with the network from the bucket"

kill "$server"
until_more_than "$(games)"
echo "ok: it plays on while the bucket is gone"
if tr '\0' ' ' <"/proc/$worker/cmdline" | grep -q secret; then fail "a secret stands in the process list"; fi
kill "$worker"
wait "$worker" || fail "the worker did not end well"
if grep -q secret "$tmp"/{janitor,worker}.log; then fail "a secret stands in a log"; fi
echo "ok: no secret in a log or in the process list"
