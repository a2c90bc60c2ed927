#!/usr/bin/env python3
"""What scripts/gpu-check.sh measures: doctor, evaluations a second over batch sizes, training
samples a second, self-play. A table on standard error, all facts as JSON on standard output."""

import argparse
import json
import os
import subprocess
import sys
import threading
import time

# (blocks, channels, side, batches): batches just under steps of 132 multiprocessors x 128 rows.
NETS = [
    (6, 96, 9, [208, 417, 834]),
    (6, 96, 19, [46, 93, 140, 187]),
    (10, 128, 19, [93, 187]),
    (20, 256, 19, [93, 187]),
]
TRAINING = [(6, 96, 9, 1024), (10, 128, 19, 512), (20, 256, 19, 256)]
SMALL_NETS = [(1, 16, 9, [4, 8]), (1, 16, 19, [4])]
SMALL_TRAINING = [(1, 16, 9, 16)]

parser = argparse.ArgumentParser()
parser.add_argument("--binary", required=True)
parser.add_argument("--kind", choices=["cpu", "cuda"], required=True)
parser.add_argument("--small", action="store_true")
args = parser.parse_args()
began = time.time()


def tengen(*words, check=True):
    run = subprocess.run([args.binary, *map(str, words), "--json"], capture_output=True, text=True)
    if not run.stdout.strip():
        sys.exit(f"gpu_check: tengen {' '.join(map(str, words))}: {run.stderr.strip()}")
    if check and run.returncode != 0:
        sys.exit(f"gpu_check: tengen {words[0]} failed: {run.stdout.strip()}")
    return json.loads(run.stdout)


def say(text):
    print(f"{time.time() - began:5.0f} s  {text}", file=sys.stderr)


class Busy:
    """The device-busy share that nvidia-smi tells, sampled while a measurement runs."""

    def __enter__(self):
        self.shares, self.over = [], threading.Event()
        self.thread = threading.Thread(target=self.watch, daemon=True)
        if args.kind == "cuda":
            self.thread.start()
        return self

    def watch(self):
        query = ["nvidia-smi", "--query-gpu=utilization.gpu", "--format=csv,noheader,nounits"]
        while not self.over.wait(0.5):
            try:
                found = subprocess.run(query, capture_output=True, text=True, timeout=5).stdout
                self.shares.append(max(float(line) for line in found.split("\n") if line.strip()))
            except (OSError, ValueError, subprocess.TimeoutExpired):
                return

    def __exit__(self, *_):
        self.over.set()
        if self.thread.is_alive():
            self.thread.join()

    def share(self):
        return sorted(self.shares)[len(self.shares) // 2] / 100 if self.shares else None


# The first run with the exact numbers: f32 there is f32, without TF32.
os.environ["NVIDIA_TF32_OVERRIDE"] = "0"
doctor = tengen("doctor", "--dir", ".", check=False)
del os.environ["NVIDIA_TF32_OVERRIDE"]
checks = {check["name"]: check for check in doctor["checks"]}
for name, check in checks.items():
    if name == "libtorch" or name.startswith("device "):
        say(f"{'ok  ' if check['ok'] else 'FAIL'} {name}: {check['found']}")
gpus = sorted({name.split()[1] for name, check in checks.items()
               if name.startswith("device cuda") and check["ok"]})
if args.kind == "cuda" and not gpus:
    lacking = checks.get("device cuda:0 f32", checks["libtorch"])
    sys.exit(f"gpu_check: no CUDA device is usable: {lacking.get('remedy')}")
devices = gpus if args.kind == "cuda" else ["libtorch:cpu"]
precisions = ["bf16", "fp16"] if args.kind == "cuda" else ["f32"]
seconds = 0.5 if args.small else 2.0
facts = {"doctor": doctor, "inference": [], "train": [], "selfplay": []}

for blocks, channels, side, batches in SMALL_NETS if args.small else NETS:
    for batch in batches:
        for precision in precisions if batch == batches[-1] else precisions[:1]:
            with Busy() as busy:
                found = tengen("bench", "inference", "--device", devices[0], "--precision", precision,
                               "--blocks", blocks, "--channels", channels, "--size", side,
                               "--batch", batch, "--threads", 2, "--seconds", seconds)
            found["device_busy_share"] = busy.share()
            facts["inference"].append(found)
            say(f"inference {blocks}x{channels} at {side}x{side}, batch {batch}, {precision}: "
                f"{found['evals_per_s']:,.0f} evaluations/s, {found['direct_gflop_per_s']:,.0f} "
                f"GFLOP/s as direct convolutions, busy {busy.share()}")

for blocks, channels, side, batch in SMALL_TRAINING if args.small else TRAINING:
    found = tengen("bench", "train", "--device", devices[0], "--blocks", blocks, "--channels", channels,
                   "--size", side, "--batch", batch, "--steps", 3 if args.small else 10)
    facts["train"].append(found)
    say(f"training {blocks}x{channels} at {side}x{side}, batch {batch}: "
        f"{found['median_samples_per_s']:,.0f} samples/s")

config = "configs/quickstart.toml" if args.small else "configs/9x9-gpu.toml"
with Busy() as busy:
    found = tengen("bench", "selfplay", "--config", config, "--device", ",".join(devices),
                   "--precision", precisions[0], "--rounds", 1 if args.small else 3,
                   "--seconds", 1 if args.small else 6)
found["device_busy_share"] = busy.share()
facts["selfplay"].append(found)
say(f"self-play with {config} on {', '.join(devices)}: {found['evals_per_s']:,.0f} evaluations/s, "
    f"{found['share_of_bare']:.0%} of the evaluators alone, {found['moves_per_s']:,.0f} moves/s, "
    f"{found['games_per_hour']:,.0f} games an hour, busy {busy.share()}")
facts["seconds"] = time.time() - began
print(json.dumps(facts))
