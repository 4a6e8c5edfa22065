"""Messages to tables and displays about wins, decisions on wins, and reopened wins."""

from collections.abc import Mapping
from typing import Final, Literal

import msgspec

from meters.claims.claim_rows import record_of
from meters.ledger.claim_records import ClaimRecord, OwedEnvy
from meters.ledger.script_steps import PaidDue
from meters.wire.clock import now_text
from meters.wire.messages import Jackpot, envy_message_claim

Decision = Literal["validated", "rejected", "paid"]
EVENT_OF: Final[Mapping[str, Decision]] = {
    "validated": "validated",
    "rejected": "rejected",
    "paid": "paid",
}


def is_reopened(fields: Mapping[str, str]) -> bool:
    """Check if a claim waits for a floorperson because a rejection was reopened."""
    return fields["state"] == "pending" and "reopen_at" in fields


def hit_message(record: ClaimRecord, paid: PaidDue) -> Jackpot:
    """Make the message that announces a win to all displays at the same time (duty D8)."""
    return win_message("hit", record, paid.amount_cents, paid.meter_after_cents)


def current_jackpot(fields: Mapping[str, str]) -> Jackpot | None:
    """Return a claim's present message for displays; None if its win is no percentage."""
    record = record_of(fields)
    if record.percent is None:
        return None
    event = EVENT_OF.get(fields["state"])
    return win_message(event or "hit", record, int(fields["amount"]), int(fields["after"]))


def win_message(
    event: Literal["hit", "validated", "rejected", "paid"],
    record: ClaimRecord,
    amount_cents: int,
    after_cents: int,
) -> Jackpot:
    return Jackpot(
        event=event,
        claim=record.claim,
        meter=record.meter,
        table=record.table,
        position=record.position,
        item=record.item,
        hand=record.hand,
        amount=amount_cents,
        meter_after=after_cents,
        at=now_text(),
    )


def envy_message(
    record: ClaimRecord,
    owed: OwedEnvy,
    event: Literal["validated", "rejected", "paid"],
    after_cents: int,
) -> Jackpot:
    """Make the message about one Envy Bonus.

    `position` is the table position that gets the bonus, `hand` the winning hand of another
    position, for which it is paid.
    """
    return msgspec.structs.replace(
        win_message(event, record, owed.amount, after_cents),
        claim=envy_message_claim(record.claim),
        meter=owed.meter or record.meter,
        position=owed.position,
        item=owed.item,
    )
