#!/bin/bash
# Checks what this folder holds as far as this machine allows, and says in a line what it cannot check:
#   scripts/fleet/check.sh [BINARY]        # default: target/release/tengen; a real run, minutes
# Programs: shellcheck, hadolint, kubectl, helm, kubernetes-validate (PyPI), systemd-analyze, sshd. None is
# installed, and nothing is written but a temporary folder (and /run/sshd, which sshd wants).
# shellcheck disable=SC2016,SC2329  # text for other shells; functions that others call
set -euo pipefail
cd "$(dirname "$0")/../.."
here=scripts/fleet
binary=$(readlink -f "${1:-target/release/tengen}")
tmp=$(mktemp -d)
failed=0
children=()
clean_up() {
    for child in "${children[@]}"; do kill "$child" 2>/dev/null || true; done
    rm -rf "$tmp"
}
trap clean_up EXIT

have() { command -v "$1" >/dev/null || { echo "SKIPPED: $2: no $1 here"; return 1; }; }
# Runs a check and tells how it ended.
check() {
    local what=$1
    shift
    if "$@" >"$tmp/out" 2>&1; then echo "ok: $what"; else
        echo "FAILED: $what"
        sed 's/^/    /' "$tmp/out" | tail -n 20
        failed=1
    fi
}

have shellcheck scripts && check scripts shellcheck "$here"/*.sh "$here"/*.sbatch
have hadolint Dockerfile && check Dockerfile hadolint "$here/Dockerfile"

if have kubernetes-validate "Kubernetes's schemas"; then
    valid() { "${@:2}" >"$tmp/$1.yaml" && kubernetes-validate --strict "$tmp/$1.yaml"; }
    if have kubectl kustomize; then
        for form in base overlays/gpu; do
            check "kustomize/$form" valid "${form##*/}" kubectl kustomize "$here/kustomize/$form"
        done
    fi
    if have helm helm; then
        check helm valid helm helm template fleet "$here/helm"
        check "helm, with GPUs" valid helm-gpu helm template fleet "$here/helm" --set gpus=1,device=cuda:0
    fi
fi
have docker compose.yaml && {
    export POSTGRES_PASSWORD=x
    if docker compose version >/dev/null 2>&1; then
        check compose.yaml docker compose -f "$here/compose.yaml" config
    else echo "SKIPPED: compose.yaml: docker has no compose here"; fi
}
if have systemd-analyze "systemd's unit"; then
    # It must find the program that it is told to start.
    sed "s|/usr/local/bin/tengen|$binary|" "$here/tengen-worker@.service" >"$tmp/tengen-worker@.service"
    check "systemd's unit" systemd-analyze verify "$tmp/tengen-worker@0.service"
fi

if [ ! -x "$binary" ]; then
    echo "SKIPPED: workers of a real run: no $binary; build it, or name one"
    exit "$failed"
fi

# A run that workers can play for.
run=$tmp/run
nice -n 5 "$binary" loop --config scripts/kill_soak.toml --run "$run" --until-steps 1 >"$tmp/loop.log" 2>&1
"$binary" janitor --store "$run" >"$tmp/janitor.log" 2>&1 &
children+=("$!")
# Games that came of workers so far, waiting or settled.
games() {
    "$binary" fleet status --store "$run" --json 2>/dev/null |
        python3 -c 'import json,sys; print(sum(w["games"] for w in json.load(sys.stdin)["workers"]))'
}
# Waits until workers have handed in more games than $1.
more_than() {
    for _ in $(seq 120); do
        [ "$(games)" -gt "$1" ] && return 0
        sleep 1
    done
    return 1
}

slurm() {
    mkdir -p "$tmp/bin" "$tmp/scratch"
    printf '#!/bin/bash\nwhile [[ $1 == --* ]]; do shift; done\nexec "$@"\n' >"$tmp/bin/srun"
    chmod +x "$tmp/bin/srun"
    local before worker
    before=$(games)
    PATH="$tmp/bin:$PATH" SLURM_JOB_NAME=tengen SLURM_JOB_ID=8 SLURM_ARRAY_JOB_ID=7 SLURM_ARRAY_TASK_ID=3 \
        SLURM_TMPDIR="$tmp/scratch" TENGEN="$binary" TENGEN_DEVICE=cpu TENGEN_STORE="$run" \
        bash "$here/worker.sbatch" &
    worker=$!
    children+=("$worker")
    more_than "$before" || return 1
    kill -TERM "$worker"
    wait "$worker" || return 1
    [ -s "$tmp/scratch/tengen-tengen-7-3/outbox.db" ]
}
check "worker.sbatch with SLURM's variables and a stand-in for srun" slurm

over_ssh() {
    local home=$tmp/home port=$((20000 + RANDOM % 20000)) before
    mkdir -p "$home/bin" /run/sshd
    ln -s "$binary" "$home/bin/tengen"
    ssh-keygen -q -t ed25519 -N '' -f "$tmp/host" && ssh-keygen -q -t ed25519 -N '' -f "$tmp/key"
    # A machine of its own, as far as the script can tell: its home and its path.
    /usr/sbin/sshd -D -f /dev/null -h "$tmp/host" -p "$port" -o ListenAddress=127.0.0.1 \
        -o "AuthorizedKeysFile=$tmp/key.pub" -o StrictModes=no -o PidFile=none -E "$tmp/sshd.log" \
        -o "ForceCommand=cd $home && PATH=$home/bin:\$PATH sh -c \"\$SSH_ORIGINAL_COMMAND\"" &
    children+=("$!")
    export SSH="ssh -p $port -i $tmp/key -o BatchMode=yes -o StrictHostKeyChecking=no -o UserKnownHostsFile=/dev/null -o LogLevel=ERROR -o ConnectionAttempts=5"
    before=$(games)
    sleep 1
    TENGEN_STORE=$run "$here/ssh-workers.sh" start 127.0.0.1 || return 1
    children+=("$(cat "$home/tengen-spool/pid")")
    TENGEN_STORE=$run "$here/ssh-workers.sh" start 127.0.0.1 | grep "runs already" || return 1
    more_than "$before" || return 1
    "$here/ssh-workers.sh" status 127.0.0.1 | grep ": runs" || return 1
    # No process list shows the run's address.
    if grep -q "$run " <(tr '\0' ' ' <"/proc/$(cat "$home/tengen-spool/pid")/cmdline"); then return 1; fi
    "$here/ssh-workers.sh" stop 127.0.0.1 || return 1
    for _ in $(seq 30); do
        "$here/ssh-workers.sh" status 127.0.0.1 | grep -q "does not run" && return 0
        sleep 1
    done
    return 1
}
if [ -x /usr/sbin/sshd ]; then check "ssh-workers.sh: start, status, stop" over_ssh; else echo "SKIPPED: ssh-workers.sh: no sshd here"; fi

if systemctl is-system-running >/dev/null 2>&1; then
    echo "SKIPPED: a worker under systemd: install the unit by hand, this script changes no system"
else
    echo "SKIPPED: a worker under systemd: this machine was not started by it"
fi
exit "$failed"
