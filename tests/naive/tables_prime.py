"""The payouts of 679a.12 and 682a.12, as the fixtures of `tests.law` have the printed tables."""

from tests.naive.ranking import THREE_CARD
from tests.naive.tables_649a import FOR_1, TO_1, printed

_PLAY = printed("679a.12(b)", TO_1)[""]
PLAY_679A = dict.fromkeys(THREE_CARD, _PLAY["flush_or_lower"]) | _PLAY
BAD_BEAT_679A = printed("679a.12(c)", TO_1)
PRIME_679A = printed("679a.12(d)", TO_1)[""]
PAIR_BONUS_NOT_A_TWO = printed("679a.12(e)", TO_1)[""]
PAIR_BONUS_TWO = printed("679a.12(f)", TO_1)
ALL_SIX = printed("679a.12(g)", TO_1)
"""682a.12(f) prints the same five tables."""
WIN_BONUS = printed("682a.12(b)", FOR_1)[""]
BAD_BEAT_682A = printed("682a.12(c)", TO_1)
PRIME_682A = printed("682a.12(d)", TO_1)
ACES_BONUS = printed("682a.12(e)", TO_1)
