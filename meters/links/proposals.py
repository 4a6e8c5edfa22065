"""Proposals of changes of a meter: records for the ledger, and rows that show them to people."""

from collections.abc import Iterable, Mapping
from typing import Final, Literal

import msgspec
import structlog

from bonus.display import money
from bonus.wagers import MICROS_PER_CENT
from meters.claims.refusals import ActError
from meters.floor.floor_file import Meter
from meters.links.link_types import (
    Adjustment,
    Parameter,
    ParameterChange,
    ProposalRow,
    ProposalState,
)
from meters.links.parameters import return_warning, words_of
from meters.wire.messages import UNREADABLE

_log = structlog.get_logger()


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """A proposed change of a meter, as the ledger stores it.

    The kind ``parameter`` is a new value of a parameter: `before` and `after` are the two values in
    words, and `terms` the terms of the meter after the confirmation, which the audit uses. The kind
    ``adjustment`` is a correction of the meter balance: `before` is the balance at the time of the
    proposal, `after` and `amount` (in cents) what to add to it, negative to subtract, and `cycle`
    the number of the meter's cycle at that time. When the whole meter is won, a new cycle begins.
    `pin_set_by` are the people who set the PIN of `by` in the 24 hours before the proposal.
    """

    proposal: str
    kind: Literal["parameter", "adjustment"]
    meter: str
    by: str
    before: str
    after: str
    reason: str
    parameter: Parameter | None = None
    value: int | str | None = None
    amount: int = 0
    cycle: int = 0
    terms: str = ""
    confirmed_by: str | None = None
    pin_set_by: tuple[str, ...] = ()


_CHANGE: Final = msgspec.json.Decoder(Change)


def parameter_change(
    proposal: str, by: str, request: ParameterChange, *, before: Meter, after: Meter, positions: int
) -> Change:
    """Make the record of a proposed change of a parameter.

    `positions` is the number of positions at the smallest table with this meter.
    """
    return Change(
        proposal, "parameter", before.meter_id, by,
        words_of(before, request.parameter),
        f"{words_of(after, request.parameter)}{return_warning(after, positions)}",
        request.reason, parameter=request.parameter, value=request.value,
    )  # fmt: skip


def adjustment(
    proposal: str, by: str, meter: Meter, held: tuple[int, int], request: Adjustment
) -> Change:
    """Make the record of a proposed correction of a meter balance.

    The record has the amount to add, not a new balance, because wagers can raise the balance before
    the confirmation. `held` is the balance in micros, and the number of the meter's cycle.

    Raises:
        ActError: ``no_change`` if the amount is 0; ``meter_short`` if the balance is less than the
            amount to subtract; ``above_limit`` if the new balance would be above the limit.
    """
    held_micros, cycle = held
    held_cents = held_micros // MICROS_PER_CENT
    if request.amount == 0:
        raise ActError("no_change", "the amount is 0: nothing would change")
    if held_cents + request.amount < 0:
        raise ActError("meter_short", f"the meter holds only {money(held_cents)}")
    over_micros = held_micros + (request.amount - (meter.limit or 0)) * MICROS_PER_CENT
    if meter.limit and request.amount > 0 and over_micros > 0:
        raise ActError("above_limit", f"the meter's limit is {money(meter.limit)}")
    moved = f"{'+' if request.amount > 0 else '−'}{money(abs(request.amount))}"  # noqa: RUF001
    return Change(
        proposal, "adjustment", request.meter, by, money(held_cents), moved, request.reason,
        amount=request.amount, cycle=cycle,
    )  # fmt: skip


def change_of(fields: Mapping[str, str]) -> Change:
    return _CHANGE.decode(fields["record"])


def proposal_rows(link: str, proposals: Iterable[Mapping[str, str]]) -> list[ProposalRow]:
    """Make the rows of proposals.

    A proposal that somebody damaged is left out and logged: nobody can confirm it.
    """
    rows = []
    for fields in proposals:
        try:
            rows.append(proposal_row(link, fields))
        except (*UNREADABLE, LookupError) as error:
            _log.error("proposal not readable", link=link, reason=str(error))
    return rows


def proposal_row(link: str, fields: Mapping[str, str]) -> ProposalRow:
    change = change_of(fields)
    return ProposalRow(
        proposal=change.proposal,
        link=link,
        kind=change.kind,
        meter=change.meter,
        parameter=change.parameter,
        before=change.before,
        after=change.after,
        amount=change.amount if change.kind == "adjustment" else None,
        reason=change.reason,
        by=change.by,
        at=fields["at"],
        state=msgspec.convert(fields["state"], ProposalState),
        decided_by=fields.get("decided_by"),
        decided_at=fields.get("decided_at"),
    )
