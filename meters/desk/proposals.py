"""What one person proposes and another confirms, as the ledger keeps it and as people see it."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from meters.desk.parameters import with_parameter, words_of
from meters.web.doors import DeskError
from meters.web.rows import Adjustment, Parameter, ParameterChange, ProposalRow, ProposalState
from meters.wire.floor import Meter
from meters.wire.pages.words import money


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change of a meter; `before` and `after` in words, `amount` in cents.

    `terms` are the meter's terms from the confirmation of a parameter on, by which an audit goes.
    """

    proposal: str
    kind: Literal["parameter", "adjustment"]
    meter: str
    by: str
    before: str
    after: str
    parameter: Parameter | None = None
    value: int | str | None = None
    amount: int = 0
    reason: str | None = None
    terms: str = ""
    confirmed_by: str | None = None


_CHANGE: Final = msgspec.json.Decoder(Change)


def parameter_change(proposal: str, by: str, meter: Meter, asked: ParameterChange) -> Change:
    """The change of a parameter.

    Raises:
        DeskError: ``bad_value`` or ``no_change``.
    """
    after = with_parameter(meter, asked.parameter, asked.value)
    return Change(
        proposal, "parameter", meter.meter_id, by,
        words_of(meter, asked.parameter), words_of(after, asked.parameter),
        parameter=asked.parameter, value=asked.value,
    )  # fmt: skip


def adjustment(proposal: str, by: str, amount_cents: int, asked: Adjustment) -> Change:
    """The correction of a meter that holds so many cents.

    Raises:
        DeskError: ``no_change`` where nothing is to move; ``meter_short``.
    """
    if asked.amount == 0:
        raise DeskError("no_change", "nothing is to be added or taken off")
    after_cents = amount_cents + asked.amount
    if after_cents < 0:
        raise DeskError("meter_short", f"the meter holds {money(amount_cents)}, no more")
    return Change(
        proposal, "adjustment", asked.meter, by, money(amount_cents), money(after_cents),
        amount=asked.amount, reason=asked.reason,
    )  # fmt: skip


def change_of(fields: Mapping[str, str]) -> Change:
    """The change that a proposal of the books is about."""
    return _CHANGE.decode(fields["record"])


def proposal_row(link: str, fields: Mapping[str, str]) -> ProposalRow:
    """A proposal as people see it."""
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
