"""Rounds settled through the public interface and by the text alone, and each wager's outcome."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Final

import msgspec
import pytest

from bonus.settling.rounds import RoundError
from bonus.settling.settle import settle_line
from tests.naive.agreement import disagreement

ANTE: Final = 1000
"""An Ante of $10, and most other wagers, in cents."""

JSON = dict[str, Any]


class LineText(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A settlement's line, as other programs read it."""

    position: int
    item: str
    outcome: str
    wagered: int
    paid: int
    returned: int
    rule: str
    hand: str | None = None
    paid_from: str | None = None
    percent: int | None = None
    envy_of: int | None = None
    on: str | None = None


class MeterText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A meter after the round, in cents."""

    amount: int
    reserve: int | None = None


class SettlementText(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A settlement, as other programs read it."""

    lines: list[LineText]
    meters: dict[str, MeterText]

    def of(self, item: str, position: int = 1) -> LineText:
        """Return the one line of an item at a position."""
        (line,) = [line for line in self.lines if (line.item, line.position) == (item, position)]
        return line

    def said(self) -> list[str]:
        """Return each line in words: what is paid and returned, and from where if not the tray."""
        return [_said(line) for line in self.lines]

    def items(self) -> list[tuple[int, str]]:
        """Return the settled items, in order."""
        return [(line.position, line.item) for line in self.lines]

    def worth(self, item: str, position: int = 1) -> tuple[str, int, int]:
        """Return an item's outcome, the amount paid and the amount returned."""
        line = self.of(item, position)
        return line.outcome, line.paid, line.returned


def _said(line: LineText) -> str:
    words = [f"{line.position} {line.item} {line.outcome}"]
    if line.outcome == "paid":
        words.append(f"{line.paid}+{line.returned}" if line.returned else f"{line.paid}")
    if line.paid_from not in {None, "table_inventory"}:
        words.append(str(line.paid_from))
    for name, value in (("", line.percent), ("of ", line.envy_of), ("on ", line.on)):
        words += [] if value is None else [f"{name}{value}{'' if name else '%'}"]
    return " ".join(words)


PUSHED: Final = ("returned", 0, ANTE)
LOST: Final = ("collected", 0, 0)


def won(times: int, stake_cents: int = ANTE) -> tuple[str, int, int]:
    """Return the outcome and amounts of a wager that is paid ``times`` to 1."""
    return "paid", times * stake_cents, stake_cents


def box(position: int, cards: str | None, wagers: Mapping[str, int], **more: object) -> JSON:
    """Return a betting position; its cards are names separated by spaces."""
    dealt = {} if cards is None else {"cards": cards.split()}
    return {"position": position, **dealt, "wagers": dict(wagers), **more}


def settled(game: str, boxes: Sequence[JSON], dealer: str | None, **more: object) -> SettlementText:
    """Settle a round; the second settlement, which knows only the text, must say the same."""
    fields = {"game": game, "positions": list(boxes), **more}
    if dealer is not None:
        fields["dealer"] = dealer.split()
    answer = msgspec.json.encode(settle_line(json.dumps(fields).encode()))
    if differs := disagreement(fields):
        pytest.fail(differs)
    return msgspec.json.decode(answer, type=SettlementText)


def refused(
    code: str, rule: str, game: str, boxes: Sequence[JSON], dealer: str, **more: object
) -> None:
    """Check that a round is refused under a subsection."""
    with pytest.raises(RoundError) as caught:
        settled(game, boxes, dealer, **more)
    assert caught.value.code == code
    assert rule in caught.value.message
