"""Parts of a filing that pitlink does not know, so that the house must add them."""

from collections.abc import Iterator, Sequence
from typing import Final

from bonus.law.chapter_file import Chapter
from meters.submission.contents import AddedByHouse, GameFiling
from meters.submission.game_filings import OF_CODE

_BOXES: Final = {"649a": "649a.7(f)", "679a": "679a.7(e)", "682a": "682a.7(e)"}
"""The subsection of each chapter that asks for the number of adjacent boxes."""
_PAIR_BONUS: Final = "pair_bonus"

_WHOLE: Final = (
    ("name, title and signature of the person who files, and the date of filing", "601a.2"),
    (
        "places of the server, displays and wagering devices, and the people with their keys",
        "605a.7",
    ),
    ("anything further that the regulator asks of linked progressive table games", "605a.8"),
    ("internal controls for seeds, hand pays, adjustments and the reconciliation of meters", ""),
)


def added_by_house(
    games: Sequence[GameFiling], chapters: Sequence[Chapter]
) -> tuple[AddedByHouse, ...]:
    """Return what the house must add; `chapters` are the rules of `games`, in the same order."""
    return (
        *(AddedByHouse(game="", what=what, rule=rule) for what, rule in _WHOLE),
        *(
            AddedByHouse(game=game.game, what=what, rule=rule)
            for game, chapter in zip(games, chapters, strict=True)
            for what, rule in _of_game(game, chapter)
        ),
    )


def _of_game(game: GameFiling, chapter: Chapter) -> Iterator[tuple[str, str]]:
    if any(not wager.feeds for wager in game.wagers):
        yield "minimum and maximum of each wager that feeds no meter", ""
    if game.source != OF_CODE:
        yield "the full rules of play: the game file has only what decides money", chapter.chapter
        yield "layout and signs with the payout odds", ""
        yield "cards, shuffle and cut, and how the cards are dealt", ""
        return
    number = chapter.chapter
    yield "number of adjacent boxes on which a player can place a wager", _BOXES.get(number, "")
    yield (
        "layout, and the sign with the payout odds if the layout does not have them",
        f"{number}.2(b)",
    )
    yield "number of decks, and the automated shuffling device if there is one", f"{number}.3"
    dealt = f"{number}.8, {number}.9 or {number}.10"
    yield "how the cards are dealt: manual shoe, hand or automated shoe", dealt
    for wager in game.wagers:
        if not wager.feeds and wager.paytable is None and wager.wager not in chapter.main_wagers:
            placing = next(rule.rule for rule in wager.rules if rule.subject == "placing")
            yield f"whether tables offer {wager.wager}: it has no choice of paytable", placing
        if wager.wager == _PAIR_BONUS:
            rules = f"{number}.8(h), {number}.9(g) or {number}.10(h)"
            yield "whether one community card decides all Pair Bonus wagers", rules
