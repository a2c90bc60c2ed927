competition_type = "playoff"

# A playoff for gomill's ringmaster (Python 2.7): Tengen without a net against GNU Go 3.8.
#
# gomill is the referee: it checks every move on its own board and counts the final area itself
# (scorer "internal"); an illegal move or a refused one would be a forfeit.
#
#   python2.7 -m pip install --target gomill gomill
#   PYTHONPATH=gomill python2.7 gomill/bin/ringmaster scripts/gomill.ctl run
#   PYTHONPATH=gomill python2.7 gomill/bin/ringmaster scripts/gomill.ctl report
#
# TENGEN in the environment names the binary.

import os

tengen = os.environ.get("TENGEN", os.path.abspath("target/release/tengen"))

description = "Tengen's rollout search against GNU Go at level 1 on small boards."

record_games = True
stderr_to_log = False


def ours(visits):
    return Player(
        [tengen, "gtp", "--net", "rollouts", "--visits", str(visits),
         "--rules", "ko=positional,suicide=false"])


players = {
    "tengen": ours(60),
    "gnugo": Player(
        "/usr/games/gnugo --mode gtp --level 1 --chinese-rules --positional-superko "
        "--forbid-suicide --play-out-aftermath --capture-all-dead"),
}

scorer = "internal"
alternating = True

matchups = [
    Matchup("tengen", "gnugo", id="5x5", board_size=5, komi=3.5, number_of_games=100,
            move_limit=200),
    Matchup("tengen", "gnugo", id="7x7", board_size=7, komi=3.5, number_of_games=100,
            move_limit=400),
]
