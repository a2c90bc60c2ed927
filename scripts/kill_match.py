#!/usr/bin/env python3
"""Kills a match with SIGKILL again and again and checks that its result is that of one left alone.

Exit 0: the cut match ends with the same games as the whole one. Exit 1: it does not.
"""

import argparse
import json
import pathlib
import random
import subprocess
import sys
import tempfile
import time


def games(folder):
    """Every game of the one match below `folder`, by file name; times are not part of a game."""
    found = {}
    for path in pathlib.Path(folder).glob("*/games/*.json"):
        game = json.loads(path.read_text())
        found[path.name] = (game["result"], game["record"], game["fault"])
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default="target/release/tengen")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument("--longest", type=float, default=1.5, help="seconds before a kill")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("a", nargs="?", default="uniform")
    parser.add_argument("b", nargs="?", default="uniform")
    parser.add_argument("rest", nargs="*", default=["--size", "5", "--games", "200", "--visits", "60"])
    args = parser.parse_args()
    draw = random.Random(args.seed)
    command = [args.binary, "match", args.a, args.b, *args.rest, "--json"]
    with tempfile.TemporaryDirectory() as whole, tempfile.TemporaryDirectory() as cut:
        done = subprocess.run([*command, "--dir", whole], check=True, capture_output=True)
        expected = json.loads(done.stdout)
        kills = 0
        while kills < args.kills:
            child = subprocess.Popen(
                [*command, "--dir", cut], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
            )
            time.sleep(draw.uniform(0.05, args.longest))
            if child.poll() is not None:
                break
            child.kill()
            child.wait()
            kills += 1
            print(f"kill {kills}: {len(games(cut))} games stored", file=sys.stderr)
        done = subprocess.run([*command, "--dir", cut], check=True, capture_output=True)
        found = json.loads(done.stdout)
        same = games(whole) == games(cut)
        keys = ["wins", "losses", "draws", "no_results", "faults", "pairs"]
        score = [found[key] for key in keys]
        print(f"{kills} kills, {len(games(cut))} games, {score}, resumed with {found['resumed']}")
        if not same or any(found[key] != expected[key] for key in keys):
            sys.exit(f"the cut match differs: {[expected[key] for key in keys]} when left alone")


if __name__ == "__main__":
    main()
