"""Games as the second books need them: who wins what, without the code of the service.

Three Card Poker is settled by `tests.naive`, and a game of the house by `tests.games.naive`.
"""

from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Any, Final, Protocol

from tests.games.naive import (
    NaiveRound,
    fed_by,
    law_of,
    live_after_a_fold,
    terms_of,
    wins_with_every_hand,
)
from tests.naive.declared import refusal
from tests.naive.settle_meters import LIVE_AFTER_A_FOLD, Meters, MeterWagers
from tests.naive.shapes import Line, Round
from tests.naive.tables_649a import METER_OF, MeterLaw

Report = Callable[[Line], None]


@dataclass(frozen=True)
class SecondMeter:
    """A meter; `hit_by` are the wagers that feed a must-hit-by meter of at most `maximum_cents`.

    What is above its limit goes to the meter `overflow_to`, if it is not empty. A wager can also
    have one of the `smaller_cents`.
    """

    law: MeterLaw
    wager_cents: int
    limit_cents: int | None = None
    paytable: str | None = None
    hit_by: tuple[str, ...] = ()
    maximum_cents: int = 0
    overflow_to: str = ""
    smaller_cents: tuple[int, ...] = ()


@dataclass(frozen=True)
class Deal:
    """How many cards are dealt; or `results` that take their place, the best first.

    `community_ordered` is true if a wager is on the first community cards.
    """

    hand: int
    dealer: int
    community: int
    results: tuple[str, ...] = ()
    decks: int = 1
    community_ordered: bool = False


class Elsewhere(Protocol):
    """The players at other tables of the link, who divide a community share too."""

    def players(self, kind: str, wager: str) -> Sequence[tuple[str, int]]:
        """Return the table and the position of each."""

    def pay(self, kind: str, wager: str, holder: int, cents: int) -> None:
        """Book the part of each; the position `holder` has the hand."""


class SecondGame(Protocol):
    """A game with wagers that feed meters.

    Each item of a settlement line has in `meter_of` the meter that pays it. A fold does not forfeit
    the `live` wagers. `on_dealer` is a wager that the dealer's cards decide; empty if there is
    none.
    """

    deal: Deal
    fed: Mapping[str, tuple[str, ...]]
    meter_of: Mapping[str, str]
    live: Collection[str]
    needs_community: Collection[str]
    on_dealer: str

    def refusal(self, played: Round) -> str | None:
        """Return the code with which a round is refused because of a declared hand, if it is."""

    def settle(
        self, played: Round, meters: Mapping[str, SecondMeter], held: Meters, report: Report,
        elsewhere: Elsewhere,
    ) -> None:  # fmt: skip
        """Settle a round step by step, and report each line when it is settled."""

    def is_validated(self, line: Line) -> bool:
        """Check whether a floorperson validates a win at odds, if it is large enough."""


class ThreeCardPoker:
    deal = Deal(hand=3, dealer=3, community=2)
    fed: Mapping[str, tuple[str, ...]] = {wager: (meter,) for wager, meter in METER_OF.items()}
    meter_of: Mapping[str, str] = METER_OF | {
        "progressive_envy": "progressive",
        "five_card_envy": "five_card_progressive",
        "five_of_six_envy": "five_of_six_progressive",
        "magic_card": "five_card_hand_bonus",
        "lucky_bonus": "five_card_hand_bonus",
    }
    live: Collection[str] = LIVE_AFTER_A_FOLD
    needs_community: Collection[str] = tuple(wager for wager in METER_OF if "five_card" in wager)
    on_dealer = "five_card_hand_bonus_dealer"

    def refusal(self, played: Round) -> str | None:
        return refusal(played)

    def settle(
        self, played: Round, meters: Mapping[str, SecondMeter], held: Meters, report: Report,
        elsewhere: Elsewhere,
    ) -> None:  # fmt: skip
        laws = {kind: meter.law for kind, meter in meters.items()}
        wagers = MeterWagers(played, laws, held, report)
        for box in wagers.boxes:
            wagers.settle_progressive(box)
            wagers.settle_five_card_progressive(box)
            wagers.settle_five_card_hand_bonus(box)
            wagers.settle_five_of_six(box)

    def is_validated(self, line: Line) -> bool:
        if line["item"] not in METER_OF:
            return False
        return "hand_bonus" not in line["item"] or line["paid"] >= 500 * line["wagered"]


class HouseGame:
    def __init__(self, name: str, *, on_link: bool = False) -> None:
        self.name = name
        self.on_link = on_link
        law = law_of(name)
        deal = law["deal"]
        results = [result["name"] for result in law.get("result", ())]
        self.deal = Deal(
            deal["hand"],
            deal["dealer"],
            deal.get("community", 0),
            (*results, "other") if results else (),
            deal.get("decks", 1),
            any("community_cards" in wager for wager in law["wager"]),
        )
        self.positions: int = deal["positions"]
        metered = {wager["names"][0]: wager for wager in law["wager"] if fed_by(wager)}
        self._metered: Final[Mapping[str, Any]] = metered
        self.fed: Mapping[str, tuple[str, ...]] = {
            wager: tuple(fed_by(terms)) for wager, terms in metered.items()
        }
        self.meter_of: Mapping[str, str] = {
            item: meter for wager in metered for item, meter in self._items(wager)
        }
        self.live: Collection[str] = live_after_a_fold(law)
        self.needs_community: Collection[str] = self._decided_by("community")
        self.on_dealer = next(iter(self._decided_by("dealer")), "")

    def _items(self, wager: str) -> list[tuple[str, str]]:
        """Return the items of a wager, each with its meter: what it pays at odds is of the first.

        A percentage of one of several meters has an item of its own.
        """
        fed = self.fed[wager]
        items = [(wager, fed[0]), (f"{wager.removesuffix('_progressive')}_envy", fed[0])]
        if len(fed) > 1:
            items += [(f"{meter}_jackpot", meter) for meter in fed]
        shares = ["community_share", "envy_share"]
        shares += (f"bad_beat_{part}" for part in ("loser", "winner", "table"))
        return [*items, *((f"{meter}_{share}", meter) for meter in fed for share in shares)]

    def _decided_by(self, cards: str) -> Collection[str]:
        return tuple(name for name, terms in self._metered.items() if cards in terms["cards"][0])

    def refusal(self, played: Round) -> str | None:
        for box in played["positions"]:
            if box.get("no_win") and wins_with_every_hand(self._with_name(played), box):
                return "no_win_wins"
        return None

    def _with_name(self, played: Round) -> Round:
        return {**played, "game": self.name}

    def settle(
        self, played: Round, meters: Mapping[str, SecondMeter], held: Meters, report: Report,
        elsewhere: Elsewhere,
    ) -> None:  # fmt: skip
        chosen = {
            wager: meters[fed[0]].paytable
            for wager, fed in self.fed.items()
            if fed[0] in meters and meters[fed[0]].paytable
        }
        wagers = {kind: {"wager": one.wager_cents} for kind, one in meters.items()}
        kept = {**self._with_name(played), "paytables": chosen, "meters": wagers}
        _KeptRound(kept, held, report, elsewhere if self.on_link else None)

    def is_validated(self, line: Line) -> bool:
        terms = self._metered.get(line["item"])
        if terms is None:
            return False
        least = terms["validation"].get("least", "0 for 1")
        return line["paid"] >= int(least.removesuffix(" for 1")) * line["wagered"]

    def law(self, meter: str) -> MeterLaw:
        terms = next(
            terms_of(wager, meter) for wager in self._metered.values() if meter in fed_by(wager)
        )
        seed, reseed = (_dollars_for_1(terms[each]) for each in ("seed", "reseed"))
        primary, reserve = (_percent(terms.get(each, "0%")) for each in ("primary", "reserve"))
        above = terms.get("above", {"amount": "$0 for 1", "primary": "0%", "reserve": "0%"})
        amount, *high = (_first(above[each]) for each in ("amount", "primary", "reserve"))
        return MeterLaw(
            percent={}, for_1={}, seed=seed, reseed=reseed, primary=primary, reserve=reserve,
            above=_dollars_for_1(amount), primary_above=_percent(high[0]),
            reserve_above=_percent(high[1]),
        )  # fmt: skip


class _KeptRound(NaiveRound):
    """A round of a house game whose meters somebody else keeps."""

    def __init__(
        self, played: Mapping[str, Any], held: Meters, report: Report, elsewhere: "Elsewhere | None"
    ) -> None:
        self._elsewhere = elsewhere
        self._held = held
        self._report = report
        super().__init__(played)

    def take(  # noqa: PLR0917
        self, meter: str, percent: Fraction, wager: Mapping[str, Any], shares: int = 1,
        hand: object = None, payees: int = 0,
    ) -> int:  # fmt: skip
        return self._held.take(meter, percent, shares, hand, payees or shares)

    def elsewhere(self, meter: str, wager: str) -> int:
        return len(self._elsewhere.players(meter, wager)) if self._elsewhere else 0

    def pay_elsewhere(self, meter: str, wager: str, holder: int, cents: int) -> None:
        if self._elsewhere:
            self._elsewhere.pay(meter, wager, holder, cents)

    def report(self, line: dict[str, Any]) -> None:
        known: Line = {**line}  # type: ignore[typeddict-item]
        self._report(known)


def _first(cells: str | list[str]) -> str:
    return cells if isinstance(cells, str) else cells[0]


def _dollars_for_1(cell: str) -> int:
    return int(cell.removesuffix(" for 1").removeprefix("$").replace(",", ""))


def _percent(cell: str) -> Fraction:
    return Fraction(cell.removesuffix("%"))


THREE_CARD_POKER: Final = ThreeCardPoker()
