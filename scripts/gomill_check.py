#!/usr/bin/env python3
"""Looks at the games of `gomill.ctl` once more, with sgfmill's board as the second referee.

Every game must have ended by two passes with a result that both players named, margin included;
every move must be legal to sgfmill under positional superko; sgfmill's own count of the area must
be that result, and so must `tengen sgf score`'s.

Needs: PyPI sgfmill. Exit 0: all agree; 1: one line for each disagreement.
"""

import argparse
import json
import pathlib
import subprocess
import sys

from referee_games import Referee
from sgfmill import sgf


def play_out(game):
    """sgfmill's result of a game, or what is wrong with it."""
    referee, passes = Referee(game.get_size()), 0
    for node in game.get_main_sequence()[1:]:
        colour, point = node.get_move()
        if colour is None:
            continue
        if point is not None and not referee.play(colour, point):
            return f"illegal: {colour} {point}"
        passes = passes + 1 if point is None else 0
    return referee.result(game.get_komi()) if passes == 2 else "not two passes at the end"


def tengen_score(binary, path):
    rules = "ko=positional,suicide=false"
    command = [binary, "sgf", "score", str(path), "--rules", rules, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    return json.loads(done.stdout)["result"] if done.returncode == 0 else done.stderr.strip()


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=pathlib.Path, help="the .games folder that ringmaster wrote")
    parser.add_argument("--binary", default="target/release/tengen")
    args = parser.parse_args()
    files = sorted(args.folder.glob("*.sgf"))
    found, different = 0, set()
    for path in files:
        game = sgf.Sgf_game.from_bytes(path.read_bytes())
        stated = game.get_root().get("RE")
        different.add(tuple(node.get_move() for node in game.get_main_sequence()[1:]))
        for who, result in [
            ("sgfmill", play_out(game)),
            ("tengen sgf score", tengen_score(args.binary, path)),
        ]:
            if result != stated:
                found += 1
                print(f"{path.name}: the players say {stated}, {who} {result}", file=sys.stderr)
    print(f"{len(files)} games, {len(different)} of them different, {found} disagreements")
    sys.exit(0 if files and not found else 1)


if __name__ == "__main__":
    main()
