#!/usr/bin/env python3
"""Evaluations per second beside KataGo's Eigen build, in turns within one run.

    scripts/katago_ratio.py --katago katago --model g170-b6c96.bin.gz [--rounds 5] [--threads 2]

At 9x9 and at 19x19: first `katago benchmark` with several numbers of search threads, of which the fastest
is kept; then in turns one `katago benchmark` with it and one `tengen bench inference`, so that whatever else
the machine does weighs on both. Prints every round and the medians, as JSON on standard output.

KataGo's network of six blocks and 96 channels computes more than ours of that size: global pooling, and
ownership and score beside policy and value; and its figure has its search in it, which ours has not (`tengen
bench selfplay` has). KataGo is built with `-DUSE_BACKEND=EIGEN -DUSE_AVX2=1`; that backend batches two
positions at most, whatever it is told.
"""
import argparse
import json
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

SEARCH_THREADS = (4, 8, 16, 32)
BOARDS = (9, 19)


def run(command, where=None):
    done = subprocess.run(command, capture_output=True, text=True, cwd=where, check=False)
    if done.returncode:
        sys.exit(f"{command[0]} ended with {done.returncode}:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout + done.stderr


def katago(args, folder, size, threads):
    text = run([
        args.katago, "benchmark", "-model", args.model, "-config", str(folder / "katago.cfg"),
        "-boardsize", str(size), "-v", str(args.visits), "-n", "3", "-t", str(threads),
    ], folder)
    return float(re.findall(r"nnEvals/s = ([0-9.]+)", text)[-1])


def tengen(args, size):
    command = [
        args.tengen, "bench", "inference", "--size", str(size), "--blocks", "6", "--channels", "96",
        "--batch", "32", "--threads", str(args.threads), "--json",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    return json.loads(done.stdout)["evals_per_s"]


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--katago", required=True, help="KataGo's program, of its Eigen build")
    parser.add_argument("--model", required=True, help="a KataGo network of 6 blocks, 96 channels")
    parser.add_argument("--tengen", default="target/release/tengen", help="our program")
    parser.add_argument("--threads", type=int, default=2, help="threads of both evaluators")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--visits", type=int, default=400, help="KataGo's visits a position")
    args = parser.parse_args()
    args.katago, args.model, args.tengen = (
        str(pathlib.Path(path).resolve()) for path in (args.katago, args.model, args.tengen)
    )
    boards = {}
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        (folder / "katago.cfg").write_text(
            "logToStderr = false\nlogAllGTPCommunication = false\nrules = tromp-taylor\n"
            f"numEigenThreadsPerModel = {args.threads}\nmaxVisits = {args.visits}\n"
            "numSearchThreads = 8\nnnCacheSizePowerOfTwo = 18\n"
        )
        for size in BOARDS:
            tried = {threads: katago(args, folder, size, threads) for threads in SEARCH_THREADS}
            best = max(tried, key=tried.get)
            rounds = []
            for index in range(args.rounds):
                theirs, ours = katago(args, folder, size, best), tengen(args, size)
                rounds.append({"tengen": ours, "katago": theirs, "ratio": ours / theirs})
                print(f"{size}x{size} round {index + 1}: {rounds[-1]}", file=sys.stderr)
            medians = {key: statistics.median(r[key] for r in rounds) for key in rounds[0]}
            boards[f"{size}x{size}"] = {
                **medians, "katago_by_search_threads": tried, "rounds": rounds,
            }
    print(json.dumps({"threads": args.threads, "visits": args.visits, "boards": boards}, indent=1))


if __name__ == "__main__":
    main()
