"""The wins that a floorperson decides on, as the ledger tells of them (duties D7, D16)."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import replace
from datetime import date

from bonus.settling.lines import Line
from meters.books.expected import Held
from meters.desk.claim_rows import Decision
from meters.reports.days import Win
from meters.wire.messages import Reply

_UNDATED = date.min
"""Which gaming day a win belongs to is known when the day is closed."""


class WinBook:
    """Every win that waits, those of the day at hand, and those of days that are kept.

    Args:
        link: whose.
        waiting: those that wait, of which the ledger that there is does not tell how they were won.
    """

    def __init__(self, link: str, waiting: Mapping[str, Held]) -> None:
        self._link = link
        self._waiting = {claim: _untold(link, claim, held) for claim, held in waiting.items()}
        self._kept: dict[str, Win] = {}
        self._today: dict[str, Win] = {}
        self._decided: dict[str, Win] = {}

    def won(
        self,
        order: int,
        fields: Mapping[str, bytes],
        reply: Reply,
        meter_of: Callable[[Line], str],
        asset: str,
    ) -> None:
        """Take in the wins of a result.

        Args:
            order: the number of its ledger entry.
            fields: the entry's.
            reply: what the table was told.
            meter_of: gives the meter that a line is of.
            asset: the table's asset number.

        Raises:
            KeyError: a claim has no line, or a line no meter.
        """
        lines = {(line.position, line.item): line for line in reply.lines or ()}
        for claim in reply.claims or ():
            line = lines[claim.position, claim.item]
            win = Win(
                claim=claim.claim,
                order=order,
                at=fields["at"].decode(),
                day=_UNDATED,
                link=self._link,
                meter=meter_of(line),
                table=fields["table"].decode(),
                asset=asset,
                round=fields["round"].decode(),
                position=line.position,
                item=line.item,
                hand=line.hand or "",
                cents=claim.amount,
                percent=line.percent,
                paid_from=line.paid_from or "",
            )
            self._today[win.claim] = self._waiting[win.claim] = win

    def decide(self, decision: Decision, by: str, at: str) -> Win:
        """Take in what a floorperson decided, and give the win as it stands then.

        Raises:
            KeyError: no such win waits.
        """
        win = self._waiting.pop(decision.claim)
        win = replace(win, slip=decision.slip or win.slip)
        match decision.act:
            case "validate":
                win = replace(win, state="validated", validated_by=by, validated_at=at)
            case "pay":
                win = replace(win, state="paid", paid_by=by, paid_at=at)
            case "reject":
                win = replace(
                    win,
                    state="rejected",
                    rejected_by=by,
                    rejected_at=at,
                    reason=decision.reason or "",
                    envy_back_cents=decision.envy_back,
                )
        if not win.decided:
            self._waiting[win.claim] = win
        if win.claim in self._kept:
            self._kept[win.claim] = win
        (self._today if win.claim in self._today else self._decided)[win.claim] = win
        return win

    def close(self, day: date, *, keep: bool) -> tuple[tuple[Win, ...], tuple[Win, ...]]:
        """Close a gaming day: the wins won in it, and those won earlier that were decided on."""
        won = {claim: replace(win, day=day) for claim, win in self._today.items()}
        decided = tuple(self._decided.values())
        self._waiting |= {claim: win for claim, win in won.items() if not win.decided}
        if keep:
            self._kept |= won
        self._today, self._decided = {}, {}
        return tuple(won.values()), decided

    def latest(self) -> Iterator[Win]:
        """The wins of the days that are kept, as they stand by now, in their order."""
        yield from self._kept.values()


def _untold(link: str, claim: str, held: Held) -> Win:
    """A win of which nothing is known but what the books carry over."""
    return Win(
        claim=claim,
        order=0,
        at="",
        day=_UNDATED,
        link=link,
        meter=held.meter,
        table=table_of(claim),
        asset="",
        round="",
        position=0,
        item=held.meter,
        hand="",
        cents=held.cents,
        percent=None,
        paid_from="hand_pay" if held.hand_pay else "",
        state=held.state,
        validated_by=held.by,
    )


def table_of(claim: str) -> str:
    """The table that a claim is of, by its name.

    >>> table_of("tcp-main.TCP-01-42-1")
    'TCP-01'
    """
    return claim.partition(".")[2].rsplit("-", 2)[0]
