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
# game for each colour.
PAIRINGS = {7: 75, 9: 30}
KOMI = {7: 3.5, 9: 7.5}

players, matchups = {}, []
for size, count in sorted(PAIRINGS.items()):
    for k in range(count):
        ours, theirs = "tengen%d_%d" % (size, k), "gnugo%d_%d" % (size, k)
        players[ours] = Player(
            [tengen, "gtp", "--net", "rollouts", "--visits", str(size * size + 4 + k),
             "--rules", "ko=positional,suicide=false"])
        players[theirs] = Player(
            "/usr/games/gnugo --mode gtp --level %d --chinese-rules --positional-superko "
            "--forbid-suicide --play-out-aftermath --capture-all-dead --seed %d"
            % (k % 2, k + 1))
        matchups.append(Matchup(
            ours, theirs, id="%dx%d_%02d" % (size, size, k), board_size=size, komi=KOMI[size],
            number_of_games=2, move_limit=8 * size * size))

scorer = "players"
alternating = True
