"""The example games of the house with their house edges, from their files."""

from collections.abc import Iterator
from fractions import Fraction
from importlib.resources import files

from bonus.display import item_words
from bonus.law.games import read_chapter
from bonus.odds.enumerations import Enumerator
from bonus.odds.offers import DrawOdds, offers_of
from bonus.odds.wager_odds import entry_of
from tests.documents.json_tables import table

_FROM_REFERENCE = "../../../controllers/demo/games"


def example_games() -> str:
    """Return a row for each wager, with what the file's first comment says of the game."""
    return table(("game", "what it is", "wager", "at the seed", "in the long run"), _rows())


def _rows() -> Iterator[tuple[str, ...]]:
    counted = Enumerator()
    directory = files("controllers.demo").joinpath("games")
    for file in sorted(directory.iterdir(), key=lambda each: each.name):
        text = file.read_text()
        game = read_chapter(text)
        comment = text.partition("\n\n")[0].splitlines()
        about = " ".join(line.removeprefix("# ") for line in comment)
        about = about.removeprefix(f"{game.title}: ")
        address = f"{_FROM_REFERENCE}/{file.name}"
        first = (f"[{game.title}]({address})", f"{about[:1].upper()}{about[1:]}")
        for offer in offers_of(game, {}, DrawOdds()):
            entry = entry_of(offer, counted)
            lasting = entry.long_run.house_edge if entry.long_run else None
            wager = (offer.tables.title if offer.tables else "") or item_words(offer.wager)
            wager = f"{wager}, paytable {offer.paytable}" if offer.paytable else wager
            yield *first, wager, _percent(entry.house_edge), _percent(lasting)
            first = ("", "")


def _percent(edge: Fraction | None) -> str:
    return f"{100 * float(edge):.2f} %" if edge is not None else ""
