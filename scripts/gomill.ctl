competition_type = "playoff"

# A playoff for gomill's ringmaster (Python 2.7): Tengen without a net against GNU Go 3.8.
#
# gomill is the referee: it checks every move on its own board, and a move that is illegal to it or
# to the other player is a forfeit. Both players score the end (scorer "players"); where they
# disagree the result has no winner or no margin. gomill_check.py then counts every game once more.
#
#   python2.7 -m pip install --target gomill gomill
#   PYTHONPATH=gomill python2.7 gomill/bin/ringmaster scripts/gomill.ctl run
#   PYTHONPATH=gomill python2.7 gomill/bin/ringmaster scripts/gomill.ctl report
#   python3 scripts/gomill_check.py scripts/gomill.games
#
# TENGEN in the environment names the binary.

import os

tengen = os.environ.get("TENGEN", os.path.abspath("target/release/tengen"))

description = "Tengen's rollout search against GNU Go on small boards."

record_games = True
stderr_to_log = False


# Both programs play the same game again from the same settings, so every pairing has its own: one
# game for each colour. Against so few visits GNU Go captures all it can before it passes, so no
# opinion about dead stones comes between the rules and the score.
PAIRINGS = [
    dict(size=7, count=75, komi=3.5, visits=53),
    dict(size=9, count=30, komi=7.5, visits=85),
]

players, matchups = {}, []
for pairing in PAIRINGS:
    size = pairing["size"]
    for k in range(pairing["count"]):
        name = "%dx%d_%02d" % (size, size, k)
        ours, theirs = "tengen" + name, "gnugo" + name
        players[ours] = Player(
            [tengen, "gtp", "--net", "rollouts", "--visits", str(pairing["visits"] + k),
             "--rules", "ko=positional,suicide=false"])
        players[theirs] = Player(
            "/usr/games/gnugo --mode gtp --level %d --chinese-rules --positional-superko "
            "--forbid-suicide --play-out-aftermath --capture-all-dead --seed %d"
            % (k % 2, k + 1))
        matchups.append(Matchup(
            ours, theirs, id=name, board_size=size, komi=pairing["komi"], number_of_games=2,
            move_limit=8 * size * size))

scorer = "players"
alternating = True
