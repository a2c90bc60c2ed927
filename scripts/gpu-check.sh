#!/usr/bin/env bash
# Proves and measures the LibTorch path of this machine, in under four minutes on a GPU box whose
# binary is built; prints a table on standard error and JSON on standard output.
#
#   scripts/gpu-check.sh                    # every CUDA device for self-play, cuda:0 for the rest
#   scripts/gpu-check.sh --cpu --small      # the same on libtorch:cpu, tiny, to prove this script
#   scripts/gpu-check.sh --prepare          # fetch LibTorch and build, measure nothing
#
# Environment: LIBTORCH, to use another LibTorch than scripts/libtorch.sh fetches;
# TENGEN, to use a binary that is already built.
set -euo pipefail
cd "$(dirname "$0")/.."

kind=cuda small=no prepare=no
for word in "$@"; do
    case $word in
        --cpu) kind=cpu ;;
        --small) small=yes ;;
        --prepare) prepare=yes ;;
        *) sed -n '2,11p' "$0" >&2; exit 2 ;;
    esac
done

if [ -z "${LIBTORCH:-}" ]; then
    eval "$(scripts/libtorch.sh "$kind")"
fi
export LD_LIBRARY_PATH=$LIBTORCH/lib${LD_LIBRARY_PATH:+:$LD_LIBRARY_PATH}
if [ -z "${TENGEN:-}" ]; then
    export CARGO_TARGET_DIR=target/libtorch-build
    cargo build --release --locked -p tengen-cli --features libtorch >&2
    TENGEN=$CARGO_TARGET_DIR/release/tengen
fi
[ "$prepare" = no ] || exit 0

exec python3 scripts/gpu_check.py --binary "$TENGEN" --kind "$kind" $([ "$small" = no ] || echo --small)
