#!/usr/bin/env bash
# Brings moto's server, a real implementation of S3 for tests, and prints where it is.
#
#   scripts/moto.sh [DIR]      # default: target/moto
#
# Needs python3 with venv and PyPI. A folder that is complete is left as it is.
set -euo pipefail

root=$(cd "$(dirname "$0")/.." && pwd)
dir=${1:-$root/target/moto}
pins=$root/scripts/moto-requirements.txt
stamp=$(sha256sum <"$pins" | cut -c1-64)

if [ "$(cat "$dir/complete" 2>/dev/null)" != "$stamp" ]; then
    rm -rf "$dir"
    python3 -m venv "$dir" >&2
    "$dir/bin/pip" install --quiet --disable-pip-version-check --no-deps --only-binary :all: -r "$pins" >&2
    echo "$stamp" >"$dir/complete"
fi
echo "$dir/bin/moto_server"
