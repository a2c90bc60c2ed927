#!/usr/bin/env python3
"""Kills a running loop with SIGKILL at random moments and checks the store after each.

Exit 0: after every kill `tengen store fsck` was clean and no stored game was lost.
"""

import argparse
import json
import pathlib
import random
import signal
import subprocess
import sys
import tempfile
import time


def facts(binary, run, *command):
    done = subprocess.run(
        [binary, *command, "--run", run, "--json"], capture_output=True, text=True
    )
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout}{done.stderr}")
    return json.loads(done.stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default="target/release/tengen")
    parser.add_argument("--config", default="scripts/kill_soak.toml")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--longest", type=float, default=4.0, help="seconds before a kill")
    parser.add_argument("--seed", type=int, default=1)
    args = parser.parse_args()
    random.seed(args.seed)

    with tempfile.TemporaryDirectory() as folder:
        run = str(pathlib.Path(folder) / "run")
        games = steps = 0
        for kill in range(1, args.kills + 1):
            loop = subprocess.Popen(
                [args.binary, "loop", "--config", args.config, "--run", run],
                stdout=subprocess.DEVNULL,
                stderr=subprocess.PIPE,
                text=True,
            )
            time.sleep(random.uniform(0.05, args.longest))
            if loop.poll() is not None:
                sys.exit(f"the loop ended by itself before kill {kill}:\n{loop.stderr.read()}")
            loop.send_signal(signal.SIGKILL)
            loop.communicate()
            if not (pathlib.Path(run) / "tengen.db").exists():
                continue
            if subprocess.run([args.binary, "status", "--run", run], capture_output=True).returncode:
                continue  # killed before the run's first row was written
            check = facts(args.binary, run, "store", "fsck")
            status = facts(args.binary, run, "status")
            if not check["ok"]:
                sys.exit(f"after kill {kill}: {check['problems']}")
            if check["games"] < games or status["steps"] < steps:
                sys.exit(f"after kill {kill}: games {games} -> {check['games']}, "
                         f"steps {steps} -> {status['steps']}")
            games, steps = check["games"], status["steps"]
        print(f"{args.kills} kills: {games} games, {steps} steps, "
              f"{status['promotions']} promotions, the store is sound")


if __name__ == "__main__":
    main()
