#!/usr/bin/env python3
"""KaTrain's own engine class driving `tengen analysis`, without KaTrain's window.

Starts the engine as KaTrain's "custom" backend does, then analyses a short game the way KaTrain
does: a query for each node with policy and ownership, extra analysis of alternatives, a region of
interest, a sweep query for a candidate move, pondering that is stopped, and a new game that ends
what is still open. Each answer goes through KaTrain's own `GameNode`, and what KaTrain shows of it
(win rate, score, candidate moves, policy ranking, ownership, points lost) is read back.

Needs: PyPI katrain (its window's library kivy included; no display is used). Exit 0: all came.
"""

import argparse
import os
import sys
import time

os.environ.update(KIVY_NO_ARGS="1", KIVY_NO_CONSOLELOG="1", KIVY_HEADLESS="1")

from katrain.core.engine import KataGoEngine  # noqa: E402
from katrain.core.game_node import GameNode  # noqa: E402
from pysgf import Move  # noqa: E402


class Host:
    """What the engine class wants of the program around it."""

    def __init__(self, verbose):
        self.verbose, self.errors = verbose, []

    def log(self, message, level=0):
        if level == -1:  # katrain's OUTPUT_ERROR
            self.errors.append(message)
        if self.verbose or level == -1:
            print(f"[{level}] {message}", file=sys.__stderr__)

    def __call__(self, *message):
        self.errors.append(f"popup: {message}")


def check(condition, text):
    if not condition:
        print(f"failed: {text}", file=sys.__stderr__)  # kivy takes sys.stderr for itself
        os._exit(1)


def finish(engine):
    """Waits until nothing is on its way. KaTrain's own wait looks past what it hasn't sent yet."""
    calm = 0
    while calm < 3:
        check(engine.check_alive(), "the engine is alive")
        time.sleep(0.1)
        calm = calm + 1 if engine.is_idle() else 0


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default="target/release/tengen")
    parser.add_argument("--net", default="rollouts")
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--visits", type=int, default=100)
    parser.add_argument("--rules", default="chinese")
    parser.add_argument("--verbose", action="store_true")
    args = parser.parse_args()

    host = Host(args.verbose)
    command = f"exec {args.binary} analysis --net {args.net} --visits {args.visits}"
    config = {
        "backend": "custom", "altcommand": command, "max_visits": args.visits, "fast_visits": 25,
        "max_time": 30.0, "wide_root_noise": 0.04, "_enable_ownership": True,
        "allow_recovery": False,
    }
    engine = KataGoEngine(host, config)
    start = time.time()

    root = GameNode(properties={"SZ": [str(args.size)], "KM": ["6.5"], "RU": [args.rules]})
    node, nodes = root, [root]
    for index, vertex in enumerate(["E5", "C3", "G7", "G3", "C7", "D4"]):
        node = node.play(Move.from_gtp(vertex, player="BW"[index % 2]))
        nodes.append(node)
    for each in nodes:
        each.analyze(engine, analyze_fast=False)
    finish(engine)
    for each in nodes:
        check(each.analysis_complete, f"no analysis of {each}")
        check(0 <= each.winrate <= 1 and each.score is not None, f"no numbers for {each}")
        check(each.candidate_moves and each.candidate_moves[0]["pointsLost"] is not None, "moves")
        check(len(each.ownership) == args.size**2, "ownership")
        check(len(each.policy) == args.size**2 + 1 and each.policy_ranking, "policy")
        check(each.analysis["root"]["visits"] >= args.visits, "visits")
    check(nodes[-1].points_lost is not None, "points lost by the last move")

    last = nodes[-1]
    before = set(last.analysis["moves"])
    last.analyze(engine, find_alternatives=True)
    finish(engine)
    check(set(last.analysis["moves"]) > before, "alternatives are other moves")
    last.analyze(engine, region_of_interest=[0, 2, 0, 2])
    last.analyze(engine, refine_move=Move.from_gtp("F6", player="B"))
    finish(engine)
    check("F6" in last.analysis["moves"], "a move refined")

    errors = []
    engine.request_analysis(
        last, callback=lambda *_: None, error_callback=errors.append,
        next_move=Move.from_gtp("D4", player="B"),
    )
    finish(engine)
    check(errors and "Illegal move" in errors[0]["error"], "an occupied point is refused")

    last.analyze(engine, ponder=True, report_every=0.2)
    time.sleep(2)
    visits = last.analysis["root"]["visits"]
    check(visits > 2 * args.visits, f"pondering reports: {visits} visits")
    engine.stop_pondering()
    finish(engine)
    for each in nodes:
        each.analyze(engine, priority=-100, visits=10_000_000)
    time.sleep(0.5)
    engine.on_new_game()
    check(engine.is_idle() or engine.queries_remaining() <= 1, "a new game ends what is open")
    fresh = GameNode(properties={"SZ": [str(args.size)], "KM": ["7.5"], "RU": ["tromp-taylor"]})
    fresh.analyze(engine)
    finish(engine)
    check(fresh.analysis_complete, "the next game is analysed")
    check(engine.check_alive(), "the engine is alive")
    engine.shutdown(finish=None)
    check(not host.errors, f"KaTrain complained: {host.errors}")
    print(f"KaTrain {args.size}x{args.size}: {len(nodes) + 1} positions, {visits} visits pondered, "
          f"{time.time() - start:.1f} s, no complaint")


if __name__ == "__main__":
    main()
