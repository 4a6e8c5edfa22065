"""The first text of a game file, from a designer's answers."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Literal

Decides = Literal["cards", "table", "position"]
"""What decides the wager: cards, one result for the table, or a result for each position."""

_OF_THREE: Final = (
    ("mini_royal", "100% of meter"), ("straight_flush", "10% of meter"),
    ("three_of_a_kind", "30 for 1"), ("straight", "6 for 1"),
)  # fmt: skip
_OF_FIVE: Final = (
    ("royal_flush", "100% of meter"), ("straight_flush", "10% of meter"),
    ("four_of_a_kind", "300 for 1"), ("full_house", "50 for 1"), ("flush", "40 for 1"),
    ("straight", "30 for 1"), ("three_of_a_kind", "9 for 1"),
)  # fmt: skip
"""Usual paytables, for a hand of three cards and for the best five."""
FIVE_OF: Final = range(5, 10)
"""Numbers of cards of which the best five can decide a wager."""


@dataclass(frozen=True, slots=True)
class NamedChance:
    """A result, with its chance as the file states it, such as ``1/38``."""

    name: str
    chance: str


@dataclass(frozen=True, slots=True)
class FirstGame:
    """A designer's answers. `source` says where the chances of the results come from."""

    title: str
    decides: Decides
    hand: int = 0
    community: int = 0
    results: Sequence[NamedChance] = ()
    source: str = ""
    seed_dollars: int = 10_000
    rate: str = "15%"

    @property
    def name(self) -> str:
        return data_name(self.title)

    @property
    def code(self) -> str:
        """The name of the house's rules, which the sections begin with: *Lucky Five* is ``LF``."""
        return "".join(word[0] for word in re.findall(r"[A-Za-z]+", self.title)).upper()

    def text(self) -> str:
        """Return the text of the file. The designer adjusts its paytable and its sections."""
        code = self.code
        return f"""\
# {self.title}. Adjust the paytable, the rates, and the sections of the house's own rules
# ({code}.1 and so on), and try the game with `pitlink game try`.{self._hint}

chapter = "{code}"
game = "{self.name}"
title = "{self.title}"

[[meter]]
name = "{self.name}_jackpot"
title = "{self.title} Jackpot"

[deal]
deck_rule = "{code}.1"
rule = "{code}.2"
positions = 6
positions_rule = "{code}.2"
hand = {self.hand if self.decides == "cards" else int(self.decides == "position")}
dealer = {int(self.decides == "table")}
{f"community = {self.community}" if self.community else ""}
{self._results_text()}
[[wager]]
names = ["{self.name}_bet"]
meter = "{self.name}_jackpot"
short = ["{self.title.split()[0][:8]}"]
{self._judged_text()}
placing = "{code}.3"
paid_from = "table_inventory"
validation = {{ rule = "{code}.5(a)", stays = "{code}.5(b)", least = "50 for 1" }}

[[wager.table]]
rule = "{code}.4(a)"
[wager.table.pays]
{self._rows_text()}
[wager.table.progression]
rule = "{code}.4(b)"
seed = "${self.seed_dollars:,} for 1"
reseed = "${self.seed_dollars:,} for 1"
primary = "{self.rate}"

[irregular]
void = "{code}.6"
dealer_exposed = "{code}.6"
settled = []
"""

    @property
    def _hint(self) -> str:
        if self.decides == "cards":
            return ""
        return "\n# pitlink calculates the chances of dice or a wheel: see game-files.md."

    def _results_text(self) -> str:
        if self.decides == "cards":
            return ""
        results = "\n".join(
            f'[[result]]\nname = "{each.name}"\nchance = "{each.chance}"\n' for each in self.results
        )
        return f'[chances]\nsource = "{self.source}"\n\n{results}'

    def _judged_text(self) -> str:
        if self.decides != "cards":
            cards = "dealer" if self.decides == "table" else "hand"
            divided = f'\ndivided = "{self.code}.4(c)"' if self.decides == "table" else ""
            return f'ranking = "results"\ncards = ["{cards}"]{divided}'
        ranking = "three_card" if self._of_three else "five_card"
        cards = "hand_and_community" if self.community else "hand"
        lowest = self._pays[-1][0]
        return f'ranking = "{ranking}"\ncards = ["{cards}"]\nlowest = "{lowest}"'

    @property
    def _of_three(self) -> bool:
        return self.hand + self.community not in FIVE_OF

    @property
    def _pays(self) -> Sequence[tuple[str, str]]:
        if self.decides == "cards":
            return _OF_THREE if self._of_three else _OF_FIVE
        first, *others = (each.name for each in self.results)
        return [(first, "100% of meter"), *((name, "5 for 1") for name in others)]

    def _rows_text(self) -> str:
        return "".join(f'{hand} = "{cell}"\n' for hand, cell in self._pays)


def data_name(words: str) -> str:
    """Return a name for data: *Dragon 7* is ``dragon_7``; empty if no letter begins it."""
    name = "_".join(re.findall(r"[a-z0-9]+", words.lower()))
    return name if name[:1].isalpha() else ""
