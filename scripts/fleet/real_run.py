#!/usr/bin/env python3
"""Trains the same run twice and lets the results meet: once with `tengen loop` on a file, once as a fleet on
a PostgreSQL server of its own: two worker processes with a worker's rights, a trainer, a janitor.

The fleet's trainer makes as many steps as the loop did. Exit 0: fsck finds both runs sound, and the score of
the match is no further from even than chance explains: that of 200 games (95 %), and that of two runs, as loops
with other seeds alone end up to SPREAD Elo apart. Needs PostgreSQL's programs and `tengen`.
"""

import argparse
import contextlib
import glob
import json
import os
import pathlib
import signal
import subprocess
import sys
import tempfile
import time

# Elo between two loops that differ by their seeds alone (docs/recipes.md).
SPREAD = 60


class Server:
    """A server in a folder of its own, reached through a socket there; asks nobody for a password."""

    def __init__(self, folder):
        found = sorted(glob.glob("/usr/lib/postgresql/*/bin/initdb"))
        if not found:
            print("SKIPPED: no PostgreSQL on this machine (Debian: apt-get install postgresql)")
            sys.exit(0)
        self.programs = pathlib.Path(found[-1]).parent
        self.folder = folder
        folder.mkdir()
        # PostgreSQL does not run as root.
        self.user = "postgres" if os.getuid() == 0 else None
        if self.user:
            subprocess.run(["chown", self.user, folder], check=True)
        self.call("initdb", "--auth=trust", "--username=owner", "--encoding=UTF8", "--locale=C")
        settings = f"unix_socket_directories = '{folder}'\nlisten_addresses = ''\n"
        with open(folder / "data" / "postgresql.auto.conf", "w") as file:
            file.write(settings)
        self.call("pg_ctl", "start", "-w", "-l", str(folder / "log"))

    def call(self, program, *args):
        command = [self.programs / program, "-D", self.folder / "data", *args]
        quiet = {"stdout": subprocess.DEVNULL, "cwd": "/", "user": self.user}
        subprocess.run(command, check=True, **quiet)

    def sql(self, text):
        command = [self.programs / "psql", "-q", "-v", "ON_ERROR_STOP=1", self.address("owner")]
        subprocess.run(command, input=text, text=True, check=True, stdout=subprocess.DEVNULL)

    def address(self, user, schema=None):
        tail = f"&schema={schema}" if schema else ""
        return f"postgres:///postgres?host={self.folder}&user={user}{tail}"


class Tengen:
    """The program, and the processes of it that run."""

    def __init__(self, binary, logs):
        self.binary = str(pathlib.Path(binary).resolve())
        self.logs = logs
        self.running = {}

    def text(self, *args):
        done = subprocess.run([self.binary, *args], capture_output=True, text=True)
        if done.returncode:
            sys.exit(f"tengen {' '.join(args)} failed:\n{done.stdout}{done.stderr}")
        return done.stdout

    def facts(self, *args):
        return json.loads(self.text(*args, "--json"))

    def start(self, name, *args, store=None):
        environment = dict(os.environ, TENGEN_STORE=store) if store else None
        with open(self.logs / f"{name}.log", "w") as log:
            process = subprocess.Popen([self.binary, *args], stdout=log, stderr=log, env=environment)
        self.running[name] = process

    def look(self):
        """Whoever ended ended well, or everything ends."""
        for name, process in list(self.running.items()):
            code = process.poll()
            if code is None:
                continue
            del self.running[name]
            if code != 0:
                sys.exit(f"{name} ended with {code}:\n{(self.logs / f'{name}.log').read_text()[-2000:]}")

    def stop(self, *names):
        for name in names:
            self.running[name].send_signal(signal.SIGTERM)
        for name in names:
            self.running[name].wait(timeout=60)
        self.look()

    def kill(self):
        for process in self.running.values():
            process.kill()
            process.wait()


def loop(tengen, config, run, games):
    tengen.text("loop", "--config", config, "--run", run, "--until-games", str(games))
    return tengen.facts("status", "--run", run)


def fleet(tengen, server, config, run, steps, limit):
    schema = "six"
    tengen.text("loop", "--config", config, "--run", run, "--until-games", "1")
    owner = server.address("owner", schema)
    tengen.text("store", "move", "--from", run, "--to", owner)
    server.sql(tengen.text("fleet", "init", "--schema", schema))
    server.sql("CREATE ROLE box1 LOGIN IN ROLE tengen_worker; CREATE ROLE box2 LOGIN IN ROLE tengen_worker;"
               "CREATE ROLE coach LOGIN IN ROLE tengen_trainer;")
    # Trainer and janitor reach the server through the run's folder.
    pathlib.Path(run, "store.url").write_text(server.address("coach", schema))
    tengen.start("janitor", "janitor", "--store", run)
    tengen.start("trainer", "train", "--config", config, "--run", run, "--until-steps", str(steps))
    for box in ("box1", "box2"):
        tengen.start(box, "selfplay", "--store", "env:TENGEN_STORE", "--name", box, "--workers", "1",
                     "--spool", f"{run}-{box}", store=server.address(box, schema))
    # The match of the last candidate is played by the same workers once the trainer is done.
    began = time.time()
    while "trainer" in tengen.running or tengen.facts("fleet", "status", "--store", run)["open_matches"]:
        tengen.look()
        if time.time() - began > limit:
            sys.exit(f"the fleet is not done after {limit} s:\n{tengen.text('status', '--run', run)}")
        time.sleep(1)
    tengen.text("fleet", "mode", "draining", "--store", run)
    while tengen.running.keys() & {"box1", "box2"}:
        tengen.look()
        time.sleep(0.2)
    while tengen.facts("fleet", "status", "--store", run)["inbox"]:
        time.sleep(0.2)
    tengen.stop("janitor")
    return tengen.facts("status", "--run", run)


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default="target/release/tengen")
    parser.add_argument("--config", default="configs/quickstart.toml")
    parser.add_argument("--games", type=int, default=1400, help="games of the loop")
    parser.add_argument("--seed", type=int, default=1, help="of the loop; the fleet's games draw their own")
    parser.add_argument("--match-games", type=int, default=200)
    parser.add_argument("--visits", default="32")
    parser.add_argument("--limit", type=float, default=900, help="seconds that the fleet may take")
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as at_end:
        folder = pathlib.Path(folder)
        folder.chmod(0o755)
        config = str(folder / "config.toml")
        text = pathlib.Path(args.config).read_text()
        # A fleet's self-play waits for its trainer after so many games, as the loop's does by taking turns.
        text = text.replace("[run]\n", "[run]\nmax_games_ahead = 48\n")
        text = text.replace("seed = 1\n", f"seed = {args.seed}\n")
        text = text.replace("until_minutes", "# until_minutes")
        text = text.replace("closing_games = 100", "closing_games = 0")
        # The step size has fallen before the last candidates are made: two runs then end more alike.
        text = text.replace("schedule_steps = 24000", f"schedule_steps = {1.5 * args.games:.0f}")
        text = text.replace("steps_per_candidate = 600", "steps_per_candidate = 300")
        pathlib.Path(config).write_text(text)
        server = Server(folder / "server")
        at_end.callback(server.call, "pg_ctl", "stop", "-m", "fast", "-w")
        tengen = Tengen(args.binary, folder)
        at_end.callback(tengen.kill)
        runs = {"loop": str(folder / "loop"), "fleet": str(folder / "fleet")}
        began = time.time()
        said = {"loop": loop(tengen, config, runs["loop"], args.games)}
        took = {"loop": time.time() - began}
        began = time.time()
        steps = said["loop"]["steps"]
        said["fleet"] = fleet(tengen, server, config, runs["fleet"], steps, args.limit)
        took["fleet"] = time.time() - began
        for name, run in runs.items():
            check = tengen.facts("store", "fsck", "--run", run)
            if not check["ok"]:
                sys.exit(f"{name}: {check['problems']}")
            facts = said[name]
            print(f"{name}: {facts['games']} games, {facts['steps']} steps, {facts['promotions']} promotions "
                  f"in {took[name]:.0f} s, the store is sound")
        result = tengen.facts("match", runs["fleet"], runs["loop"], "--games", str(args.match_games),
                              "--visits", args.visits, "--dir", str(folder / "matches"))
        low, high = result["elo_low"], result["elo_high"]
        print(f"fleet against loop: {result['wins']}-{result['losses']}-{result['draws']}, "
              f"Elo {result['elo']:+.0f} [{low:+.0f}, {high:+.0f}]: "
              f"{'no' if low <= 0 <= high else 'a'} significant difference between the two networks")
        if not low - SPREAD <= 0 <= high + SPREAD:
            sys.exit("the two runs differ by more than chance explains")
        print(f"a real run by a fleet: within what games and seeds explain of the loop's (± {SPREAD} Elo for seeds)")


if __name__ == "__main__":
    main()
