#!/usr/bin/env python3
"""Plays one game between `tengen gtp` and GNU Go 3.8 and checks that both see the same game:
area scoring, positional superko, no suicide.

Exit 0: the game ended by two passes, each move was accepted by both programs, and the result is
printed. Exit 1: a program refused a move, died or did not answer; the last exchange is shown.
"""

import argparse
import shutil
import sys

from gtp_program import Program


class Engine(Program):
    """A program whose refusal ends the script."""

    def ask(self, line):
        agreed, text = self.reply(line)
        if not agreed:
            sys.exit(f"{self.name} refused {line!r}: {text}")
        return text


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--binary", default="target/release/tengen")
    parser.add_argument("--net", default="uniform")
    parser.add_argument("--visits", default="200")
    parser.add_argument("--size", type=int, default=9)
    parser.add_argument("--komi", default="7.5")
    parser.add_argument("--level", default="1")
    parser.add_argument("--tengen-white", action="store_true")
    parser.add_argument("--timeout", type=float, default=120.0)
    args = parser.parse_args()

    gnugo = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")
    if gnugo is None:
        sys.exit("gnugo is not installed; on Debian: apt-get install gnugo")
    ours = Engine(
        "tengen",
        [args.binary, "gtp", "--net", args.net, "--visits", args.visits,
         "--rules", "ko=positional,scoring=area,suicide=false,tax=none,button=false"],
        args.timeout,
    )
    theirs = Engine(
        "gnugo",
        [gnugo, "--mode", "gtp", "--level", args.level, "--chinese-rules",
         "--positional-superko", "--play-out-aftermath", "--capture-all-dead"],
        args.timeout,
    )
    for engine in (ours, theirs):
        engine.ask(f"boardsize {args.size}")
        engine.ask("clear_board")
        engine.ask(f"komi {args.komi}")

    black, white = (theirs, ours) if args.tengen_white else (ours, theirs)
    passes, moves = 0, 0
    while passes < 2:
        mover, other = (black, white) if moves % 2 == 0 else (white, black)
        colour = "b" if moves % 2 == 0 else "w"
        move = mover.ask(f"genmove {colour}")
        moves += 1
        if move.lower() == "resign":
            print(f"{args.size}x{args.size}: {mover.name} resigned after {moves} moves")
            break
        other.ask(f"play {colour} {move}")
        passes = passes + 1 if move.lower() == "pass" else 0
        if moves > 4 * args.size * args.size:
            sys.exit("the game does not end")
    else:
        print(
            f"{args.size}x{args.size}: {moves} moves, "
            f"tengen says {ours.ask('final_score')}, gnugo says {theirs.ask('final_score')}"
        )
    for engine in (ours, theirs):
        engine.ask("quit")


if __name__ == "__main__":
    main()
