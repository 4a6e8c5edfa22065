"""A preview of a link's signage with invented wins, for example for marketing.

The preview has display data of its own, made only from the terms of the link. The preview neither
reads nor changes real data. The digits of each amount are in order, such as $12,345.67.
"""

import asyncio
import itertools
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Final, Literal

import msgspec

from bonus.rounds import written_percent
from bonus.wagers import MUST_HIT_BY, jackpot_item
from meters.floor.floor_file import Link, Meter
from meters.floor.paytable_text import names_poker_hands, ranks_of
from meters.process.clock import now_text
from meters.web.display_state import (
    DisplayState,
    DisplayUpdates,
    MeterRow,
    VerifiedWin,
    WinningHand,
    WinsRow,
)
from meters.web.streams import meter_events
from meters.wire.messages import ControllerBeat, Jackpot

Preview = Literal["hit", "share", "pending", "night", "closed", "unavailable"]

_SECOND_S: Final = 1.0
_SCRIPT: Final = {2: ("hit", 0), 13: ("validated", 0), 28: ("hit", 1), 37: ("validated", 1)}
"""What happens in the previews ``hit`` and ``share``, and to which of two wins, by the second of a
turn.
"""

_TURN: Final = 48
_STATES: Final = {"closed": "closed", "unavailable": "inoperable"}
_CARDS: Final = {
    "royal_flush_spades": "As Ks Qs Js Ts",
    "royal_flush": "Ah Kh Qh Jh Th",
    "straight_flush": "9h 8h 7h 6h 5h",
    "four_of_a_kind": "9s 9h 9d 9c Kd",
    "full_house": "Qh Qs Qd 7c 7h",
    "flush": "Kd Jd 9d 6d 2d",
    "mini_royal_spades": "As Ks Qs",
    "mini_royal": "Ah Kh Qh",
    "three_of_a_kind": "8s 8h 8d",
}


def invented_cents(seed_cents: int) -> int:
    """Return an amount above a seed. The digits are in order, so nobody takes the amount for real.

    >>> invented_cents(1_000_000), invented_cents(2_500_000), invented_cents(9_000)
    (2345678, 3456789, 12345)
    """
    first, digits = int(str(seed_cents)[0]) + 1, len(str(seed_cents))
    if first > 9:
        first, digits = 1, digits + 1
    return int("".join(str((first + at) % 10) for at in range(digits)))


def _invented(meter: Meter) -> int:
    """Return an invented amount in cents. A must-hit-by meter stays below its maximum."""
    if hit_by := meter.must_hit_by:
        return (hit_by.minimum + hit_by.maximum) // 2
    return invented_cents(meter.terms.seed_cents)


class PreviewDisplay:
    """The invented display data of a link, second by second.

    In a ``share``, parts of two meters are won, each at least `celebrate_from` cents. The win of
    the top meter is celebrated on the whole screen, and the other win is celebrated at its meter.
    In a ``hit``, the second win is of the first fixed jackpot, if the link has one.
    """

    def __init__(self, link: Link, preview: Preview, celebrate_from: int) -> None:
        self.displays = DisplayState()
        self.displays.put_terms(link)
        self._link, self._preview = link, preview
        self._part_cents = invented_cents(celebrate_from) if preview == "share" else 0
        self._numbers = itertools.count(1)
        self._turn, self._second = 0, 0
        by_id = {meter.meter_id: meter for meter in link.meter}
        in_order = [by_id[meter] for meter in ranks_of(link.meter)]
        # A share is a part of a meter, and a must-hit-by meter is always won whole.
        shown = [each for each in in_order if preview != "share" or not each.must_hit_by]
        self._won = [*shown[:1], *shown[-1:]]
        self._fixed_jackpots = link.fixed_jackpots[:1] if preview == "hit" else ()
        for meter in link.meter:
            self._put_meter(meter, _invented(meter))
        self._put_beat()
        if in_order and preview != "unavailable":
            self._put_wins(in_order[0])
        if in_order and preview == "pending":
            self._put_win("hit", 0, news=False)

    def pass_second(self) -> None:
        self._second += 1
        self._put_beat()
        if self._preview not in {"hit", "share"} or not self._won:
            return
        self._turn, second = divmod(self._second, _TURN)
        if second == 0:
            for meter in self._won:
                self._put_meter(meter, _invented(meter))
        elif second in _SCRIPT:
            self._put_win(*_SCRIPT[second])

    def _put_beat(self) -> None:
        beat = ControllerBeat(state="operable", reason="", beat=next(self._numbers), at=now_text())
        if state := _STATES.get(self._preview):
            beat = msgspec.convert(msgspec.structs.asdict(beat) | {"state": state}, ControllerBeat)
        self.displays.put_controller(self._link.id, beat)

    def _put_meter(self, meter: Meter, cents: int, *, pending: bool = False) -> None:
        row = MeterRow(
            link=self._link.id,
            meter=meter.meter_id,
            kind=meter.kind,
            name=meter.title,
            wager=meter.wager,
            amount=cents,
            version=next(self._numbers),
            cycle=1,
            state="pending" if pending else "open",
            at=now_text(),
        )
        self.displays.put_meter(row)

    def _put_win(self, event: str, number: int, *, news: bool = True) -> None:
        meter = self._won[number]
        terms = meter.terms
        percents = {hand: row.percent_of(meter.kind) for hand, row in terms.rows.items()}
        hands = sorted(filter(percents.get, percents), key=lambda hand: -percents[hand])
        hands = hands or [MUST_HIT_BY if meter.must_hit_by else ""]
        hand, amount, item = hands[0], _invented(meter), jackpot_item(meter.kind)
        most, fixed_jackpot = percents.get(hand) or 100, ""
        percent = 10 if self._part_cents else written_percent(most)
        if self._part_cents:
            hand, amount = hands[-1], max(amount // 10, self._part_cents)
        elif most < 100:
            amount //= 10  # the digits stay in order
        for jackpot in self._fixed_jackpots if number else ():
            meter, hand, amount = jackpot.meter, jackpot.hand, jackpot.amount_cents
            terms = meter.terms
            item, fixed_jackpot = meter.wagers[0], jackpot.id
        win = {
            "event": event,
            "claim": f"preview-{self._turn}-{number}",
            "meter": meter.meter_id,
            "table": self._table,
            "position": 1,
            "item": item,
            "hand": hand,
            "amount": amount,
            "meter_after": terms.seed_cents,
            "at": now_text(),
        }
        in_poker = not meter.must_hit_by and names_poker_hands(meter)
        shown = _CARDS.get(hand, "") if in_poker else ""
        cards = WinningHand(tuple(shown.split()), None if fixed_jackpot else percent, fixed_jackpot)
        self.displays.put_jackpot(self._link.id, msgspec.convert(win, Jackpot), cards, news=news)
        if not fixed_jackpot:
            self._put_meter(meter, terms.seed_cents, pending=event == "hit")

    def _put_wins(self, top: Meter) -> None:
        win = VerifiedWin(
            meter=top.meter_id,
            table=self._table,
            hand_name="",
            amount=_invented(top),
            percent=100,
            at=now_text(),
        )
        row = WinsRow(
            link=self._link.id,
            day=datetime.now(UTC).date().isoformat(),
            count=1,
            amount=win.amount,
            latest=(win,),
            last=win,
        )
        self.displays.put_wins(row)

    @property
    def _table(self) -> str:
        return self._link.table[0].id if self._link.table else "T-1"


async def preview_events(
    shown: PreviewDisplay, page_version: str, place: DisplayUpdates
) -> AsyncIterator[bytes]:
    """Yield the events of a preview until its `place` is closed.

    `place` is the preview's place in the limited number of displays.
    """
    passing = asyncio.create_task(_pass_time(shown), name="preview")
    try:
        async for event in meter_events(shown.displays.follow(), page_version):
            if not place.open:
                return
            yield event
    finally:
        passing.cancel()


async def _pass_time(shown: PreviewDisplay) -> None:
    while True:
        await asyncio.sleep(_SECOND_S)
        shown.pass_second()
