#!/usr/bin/env bash
# Fetches LibTorch from PyPI, verifies it, and prints the lines to set.
#
#   scripts/libtorch.sh [cpu|cuda] [DIR]      # default: cpu, in target/libtorch; cuda in target/libtorch-cuda
#
# cpu:  0.9 GB to fetch (PyPI has no smaller wheel), 0.5 GB kept: no CUDA library.
# cuda: 4.0 GB to fetch, 7 GB kept: CUDA 12.8, cuDNN 9.10; the driver is the machine's own.
#
# Needs python3 with pip, and nothing else. Every file is held to the hash that
# scripts/libtorch-requirements.txt pins. A folder that is complete is left as it is.
set -euo pipefail

kind=${1:-cpu}
root=$(cd "$(dirname "$0")/.." && pwd)
case $kind in cpu) name=libtorch ;; cuda) name=libtorch-cuda ;; *) name= ;; esac
dir=${2:-$root/target/$name}
pins=$root/scripts/libtorch-requirements.txt

fail() { echo "libtorch.sh: $*" >&2; exit 1; }
[ -n "$name" ] || fail "say cpu or cuda, not '$kind'"
[ "$(uname -sm)" = "Linux x86_64" ] || fail "PyPI's pinned files are for x86-64 Linux, this is $(uname -sm); \
set LIBTORCH to a LibTorch 2.9.0 of your own, or LIBTORCH_USE_PYTORCH=1 with PyTorch 2.9.0 installed"
python3 -m pip --version >/dev/null 2>&1 || fail "python3 with pip is needed (Debian: apt-get install python3-pip)"

mkdir -p "$dir"
dir=$(cd "$dir" && pwd)
stamp="$kind $(sha256sum <"$pins" | cut -c1-64)"

lines() {
    echo "export LIBTORCH=$dir/torch"
    echo "export LD_LIBRARY_PATH=$dir/torch/lib\${LD_LIBRARY_PATH:+:\$LD_LIBRARY_PATH}"
}

if [ "$(cat "$dir/complete" 2>/dev/null)" = "$stamp" ]; then
    echo "libtorch.sh: $dir is complete" >&2
    lines
    exit 0
fi

wanted=$(mktemp)
trap 'rm -rf "$wanted" "$dir/fetched"' EXIT
if [ "$kind" = cuda ]; then cp "$pins" "$wanted"; else sed '/^# ---- CUDA/,$d' "$pins" >"$wanted"; fi

rm -rf "$dir/complete" "$dir/torch" "$dir/nvidia" "$dir/fetched"
echo "libtorch.sh: fetching for $kind into $dir" >&2
python3 -m pip download --quiet --disable-pip-version-check --no-cache-dir --no-deps \
    --only-binary=:all: --require-hashes --dest "$dir/fetched" \
    --python-version 3.11 --implementation cp --abi cp311 --abi none \
    --platform manylinux_2_28_x86_64 --platform manylinux_2_27_x86_64 \
    --platform manylinux2014_x86_64 --platform manylinux2010_x86_64 \
    -r "$wanted" >&2 || fail "the download failed, or a file has another hash than the pinned one"

# Headers and libraries alone; the wheels' own run paths find nvidia/ beside torch/.
python3 - "$kind" "$dir" <<'PY'
import pathlib, sys, zipfile
kind, dir = sys.argv[1], pathlib.Path(sys.argv[2])
on_cpu = {"libc10.so", "libgomp.so.1", "libtorch_cpu.so", "libtorch_global_deps.so"}
for wheel in sorted((dir / "fetched").glob("*.whl")):
    with zipfile.ZipFile(wheel) as archive:  # checks each file's CRC as it writes it
        for name in archive.namelist():
            path = pathlib.PurePosixPath(name)
            header = name.startswith("torch/include/")
            library = path.parent == pathlib.PurePosixPath("torch/lib") and ".so" in path.name
            if library:
                library = "python" not in path.name and (kind == "cuda" or path.name in on_cpu)
            cuda = path.parts[0] == "nvidia" and path.parts[-2] == "lib" and ".so" in path.name
            if header or library or cuda:
                archive.extract(name, dir)
    wheel.unlink()
PY
# tch links libtorch.so by name; the wheel's own would ask for the CUDA libraries.
[ "$kind" = cuda ] || ln -s libtorch_cpu.so "$dir/torch/lib/libtorch.so"
echo 2.9.0 >"$dir/torch/build-version"

# Proof that nothing is missing: every library finds all that it is linked against.
libraries=(libtorch_cpu.so libc10.so)
[ "$kind" = cpu ] || libraries+=(libtorch_cuda.so libc10_cuda.so)
for library in "${libraries[@]}"; do
    [ -f "$dir/torch/lib/$library" ] || fail "$library is not in what was fetched"
    # libcuda.so is the driver's: a machine without a GPU has none, and may still build.
    missing=$(ldd "$dir/torch/lib/$library" | grep 'not found' | grep -v 'libcuda\.so' || true)
    [ -z "$missing" ] || fail "$library misses:"$'\n'"$missing"
done
[ -f "$dir/torch/include/torch/csrc/api/include/torch/torch.h" ] || fail "the headers are not in what was fetched"

echo "$stamp" >"$dir/complete"
echo "libtorch.sh: LibTorch 2.9.0 for $kind is in $dir" >&2
lines
