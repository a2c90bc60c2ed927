#!/usr/bin/env python3
"""Games between `tengen gtp` and GNU Go 3.8 with sgfmill's board as the referee.

The referee is independent of both programs: it keeps its own board (sgfmill's), its own positional
superko history and its own area score. After every move all three boards are compared stone by
stone (`list_stones`), the legal points that Tengen names (`all_legal`) are compared with the
referee's on a sample of moves, and at the end the three scores are compared.

GNU Go plays under Chinese rules with positional superko and captures all dead stones before it
passes (`--capture-all-dead --play-out-aftermath`), so that a finished board has no dead stones and
every counting agrees. A GNU Go that wants to retake a superko is a finding, not a disagreement of
Tengen's: it is counted apart.

Needs: PyPI sgfmill, Debian gnugo. Exit 0: no disagreement; 1: one line for each.
"""

import argparse
import json
import random
import shutil
import sys
import time

from gtp_program import Program
from sgfmill import boards, common


class Referee:
    """The rules by sgfmill's board: suicide forbidden, positional superko, area scoring."""

    def __init__(self, size):
        self.size = size
        self.board = boards.Board(size)
        self.past = {self.key(self.board)}

    @staticmethod
    def key(board):
        return tuple(tuple(row) for row in board.board)

    def after(self, colour, point):
        """The board after a move, or None where the rules forbid it."""
        if self.board.get(*point) is not None:
            return None
        board = self.board.copy()
        board.play(point[0], point[1], colour)
        if board.get(*point) is None or self.key(board) in self.past:
            return None
        return board

    def play(self, colour, point):
        board = self.after(colour, point)
        if board is None:
            return False
        self.board = board
        self.past.add(self.key(board))
        return True

    def stones(self, colour):
        return {
            common.format_vertex((row, col))
            for row in range(self.size)
            for col in range(self.size)
            if self.board.get(row, col) == colour
        }

    def legal(self, colour):
        return {
            common.format_vertex((row, col))
            for row in range(self.size)
            for col in range(self.size)
            if self.after(colour, (row, col)) is not None
        }

    def result(self, komi):
        lead = self.board.area_score() - komi
        if lead == 0:
            return "0"
        return f"{'B' if lead > 0 else 'W'}+{abs(lead):g}"


def words(reply):
    return set((reply or "").upper().split())


def play_game(ours, theirs, size, komi, ours_black, rng, found):
    """One game; adds disagreements to `found`. Returns (moves, result, how it ended)."""
    for program in (ours, theirs):
        for line in (f"boardsize {size}", "clear_board", f"komi {komi}"):
            if program.ask(line) is None:
                sys.exit(f"{program.name} refused {line!r}")
    referee = Referee(size)
    black, white = (ours, theirs) if ours_black else (theirs, ours)
    passes = moves = 0
    while passes < 2:
        colour = "bw"[moves % 2]
        mover, other = (black, white) if colour == "b" else (white, black)
        if rng.random() < 0.25:
            named, legal = words(ours.ask(f"all_legal {colour}")), referee.legal(colour)
            if named != legal:
                found.append(f"move {moves + 1}: legal points differ: {sorted(named ^ legal)}")
        vertex = mover.ask(f"genmove {colour}")
        moves += 1
        if vertex is None:
            found.append(f"move {moves}: {mover.name} gave no move")
            return moves, "?", "error"
        if vertex.lower() == "resign":
            winner = "W" if colour == "b" else "B"
            return moves, f"{winner}+R", "resignation"
        if vertex.lower() != "pass":
            point = common.move_from_vertex(vertex, size)
            if not referee.play(colour, point):
                if mover is theirs and ours.ask(f"is_legal {colour} {vertex}") == "0":
                    return moves, "?", "gnugo broke superko"
                found.append(f"move {moves}: {mover.name} played the illegal {vertex}")
                return moves, "?", "error"
        if other.ask(f"play {colour} {vertex}") is None:
            found.append(f"move {moves}: {other.name} refused {colour} {vertex}")
            return moves, "?", "error"
        passes = passes + 1 if vertex.lower() == "pass" else 0
        for side in ("black", "white"):
            stones = referee.stones(side[0])
            for program in (ours, theirs):
                if words(program.ask(f"list_stones {side}")) != stones:
                    found.append(f"move {moves}: {program.name} has other {side} stones")
                    return moves, "?", "error"
        if moves > 4 * size * size + 50:
            return moves, "?", "too long"
    result = referee.result(komi)
    for program in (ours, theirs):
        said = (program.ask("final_score") or "?").replace(".0", "")
        if said != result:
            found.append(f"end: {program.name} scores {said}, the referee {result}\n"
                         + (ours.ask("showboard") or ""))
    return moves, result, "two passes"


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--binary", default="target/release/tengen")
    parser.add_argument("--net", default="rollouts")
    parser.add_argument("--visits", default="60")
    parser.add_argument("--rules", default="ko=positional,suicide=false")
    parser.add_argument("--sizes", default="5,6,7", help="board sides, taken in turn")
    parser.add_argument("--games", type=int, default=200)
    parser.add_argument("--level", default="1", help="GNU Go's level")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--timeout", type=float, default=300.0)
    parser.add_argument("--json", action="store_true", help="the counts as JSON on standard output")
    args = parser.parse_args()

    gnugo = shutil.which("gnugo") or shutil.which("gnugo", path="/usr/games")
    if gnugo is None:
        sys.exit("gnugo is not installed; on Debian: apt-get install gnugo")
    engine = [args.binary, "gtp", "--net", args.net, "--visits", args.visits]
    ours = Program("tengen", engine + ["--rules", args.rules], args.timeout)
    theirs = Program(
        "gnugo",
        [gnugo, "--mode", "gtp", "--level", args.level, "--chinese-rules", "--positional-superko",
         "--forbid-suicide", "--play-out-aftermath", "--capture-all-dead", "--seed", str(args.seed)],
        args.timeout,
    )
    rng = random.Random(args.seed)
    sizes = [int(size) for size in args.sizes.split(",")]
    disagreements, ends, wins, moves, start = [], {}, 0, 0, time.time()
    for game in range(args.games):
        size, ours_black = sizes[game // 2 % len(sizes)], game % 2 == 0
        found = []
        made, result, end = play_game(ours, theirs, size, 0.5 + game % 5, ours_black, rng, found)
        moves += made
        ends[end] = ends.get(end, 0) + 1
        wins += result.startswith("B" if ours_black else "W")
        disagreements += [f"game {game} ({size}x{size}): {text}" for text in found]
        if (game + 1) % 20 == 0:
            print(f"{game + 1} games, {len(disagreements)} disagreements", file=sys.stderr)
    for program in (ours, theirs):
        program.ask("quit")
    facts = {"games": args.games, "moves": moves, "ends": ends, "tengen_wins": wins,
             "disagreements": len(disagreements), "seconds": round(time.time() - start, 1)}
    for line in disagreements:
        print(line, file=sys.stderr)
    print(json.dumps(facts) if args.json else
          f"{args.games} games, {moves} moves, {len(disagreements)} disagreements; Tengen won "
          f"{wins}; ends: {ends}; {facts['seconds']} s")
    sys.exit(1 if disagreements else 0)


if __name__ == "__main__":
    main()
