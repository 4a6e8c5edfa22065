"""The msgpack arrays that Lua scripts receive, and the answers of the script `apply_events`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec


class Kind(StrEnum):
    """The kind of a table's event, as the script `apply_events` distinguishes it."""

    WAGERS = "wagers"
    RESULT = "result"
    VOID = "void"
    WITHDRAWAL = "withdrawal"
    REFUSED = "refused"


class Contribution(msgspec.Struct, frozen=True, array_like=True):
    """The amount that one event's wagers add to one meter.

    `limit_micros` is the payout limit of the meter, 0 for no limit.
    """

    meter: str
    wagers: int
    wagered_cents: int
    meter_micros: int
    reserve_micros: int
    limit_micros: int = 0


class PercentStep(msgspec.Struct, frozen=True, array_like=True):
    """A percentage of a meter that is paid in equal shares, and the meter's reseed after 100%.

    The reseed fills the meter up to the payout limit `limit_micros`, 0 for no limit.
    """

    meter: str
    percent: int
    shares: int
    reseed_micros: int
    reseed_from_reserve: bool
    limit_micros: int = 0


class DueStep(msgspec.Struct, frozen=True, array_like=True):
    """The amount that is due to one winner: a share of a percentage of a meter, or fixed cents.

    `take` is the number of the percentage (`PercentStep`) in the result, from 1, or 0 for fixed
    cents. `claim_key` is the position of the claim's key among the script's keys, or 0 if the win
    needs no validation. If the claim holds its table, `holds` is the text about the claim, up to
    the amount. `holds` is empty for all other claims. `envy` is the claim under which an Envy Bonus
    is owed, empty for other wins.
    """

    take: int
    fixed_cents: int
    meter: str
    claim_key: int
    claim: str
    record: str
    holds: str = ""
    envy: str = ""


class EnvyStep(msgspec.Struct, frozen=True, array_like=True):
    """The Envy Bonuses that are owed under one claim.

    `record` is the record of a claim for Envy Bonuses only. `record` is empty if a win of the
    result opens the claim.
    """

    claim_key: int
    claim: str
    meter: str
    record: str


class AskStep(msgspec.Struct, frozen=True, array_like=True):
    """A correction that needs a floorperson's confirmation.

    `digest` is the digest of the correction. `ask` is the id of the request, and `text` is the
    request as it is shown to people. Only a new request uses `ask` and `text`.
    """

    digest: str
    ask: str
    text: str


class ReplyWork(msgspec.Struct, frozen=True, array_like=True):
    """The data of a void, a withdrawal or a refusal for the script `apply_events`: only a reply."""

    reply: str


class WagersWork(msgspec.Struct, frozen=True, array_like=True):
    """The data that the script `apply_events` needs for accepted wagers.

    `despite_hold` is True for wagers that a restore applies again. Their table was not held when
    the service first accepted the wagers.
    """

    reply: str
    draw: str
    contributions: tuple[Contribution, ...]
    despite_hold: bool = False


class ResultWork(msgspec.Struct, frozen=True, array_like=True):
    """The data that the script `apply_events` needs for a result.

    `reply` has texts and numbers. The script replaces the number 1 with the cents of the first
    element of `dues`, and so on. `dealt` is the digest of the round id and the cards, empty if
    there is none.
    """

    reply: tuple[str | int, ...]
    takes: tuple[PercentStep, ...]
    dues: tuple[DueStep, ...]
    envy: tuple[EnvyStep, ...] = ()
    dealt: str = ""


Work = ReplyWork | WagersWork | ResultWork


class ScriptStep(msgspec.Struct, frozen=True, array_like=True):
    """One validated event for the script `apply_events`.

    `basis` is the number (seq) of the wagers event on which a result is based. `act` is True if the
    event's ledger entry is put into the index of acts. `ask` is set if a floorperson must confirm
    the event.
    """

    table_key: int
    table: str
    seq: int
    digest: str
    kind: Kind
    round: str
    basis: int | None
    event: str
    work: Work | None
    act: bool = False
    ask: AskStep | None = None


class RoundContribution(NamedTuple):
    """The contribution of an open round to one meter.

    The script `apply_events` keeps this contribution, so a void can undo it.
    """

    meter: str
    wagers: int
    wagered_cents: int
    meter_micros: int
    reserve_micros: int
    overflow_micros: int
    cycle: int


class EnvyCents(NamedTuple):
    """The sum of the Envy Bonuses that are owed under a claim and belong to one meter."""

    meter: str
    cents: int


class HeldTable(NamedTuple):
    """A table that wins hold, for the script `upgrade_link`.

    `table_key` is the position of the table's key among the script's keys. `wins` has one win on
    each line.
    """

    table_key: int
    wins: str


PACKED_ARRAYS: Final[Mapping[str, type]] = {
    "EVENT": ScriptStep,
    "REPLY_WORK": ReplyWork,
    "WAGERS_WORK": WagersWork,
    "RESULT_WORK": ResultWork,
    "ADDED": Contribution,
    "TAKE": PercentStep,
    "DUE": DueStep,
    "ENVY": EnvyStep,
    "ASK": AskStep,
    "CONTRIBUTED": RoundContribution,
    "OWED": EnvyCents,
    "HELD_TABLE": HeldTable,
}
"""The arrays whose elements have names in the Lua scripts. Each key is a prefix of names."""


def position_names() -> str:
    """Return Lua code that names the elements of the packed arrays, such as ``EVENT_SEQ``."""
    return "\n".join(
        f"local {prefix}_{name.upper()} = {position}"
        for prefix, array in PACKED_ARRAYS.items()
        for position, name in enumerate(array.__annotations__, start=1)
    )


class Status(StrEnum):
    """The status of an event in the script `apply_events`, in the order of the script's header."""

    AGAIN = "again"
    SEQ_REUSED = "seq_reused"
    SEQ_PASSED = "seq_passed"
    GAP = "gap"
    MOVED = "moved"
    ACCEPTED = "accepted"
    REFUSED = "refused"
    HELD = "held"
    UNCONFIRMED = "unconfirmed"
    CORRECTION_REFUSED = "correction_refused"
    WITHDRAWN = "withdrawn"
    ROUND_OPEN = "round_open"
    AFTER_LOCKOUT = "after_lockout"
    ROUND_OVER = "round_over"
    LINK_CLOSED = "link_closed"
    UNKNOWN_ROUND = "unknown_round"
    METER_FULL = "meter_full"
    BOOKS_FULL = "books_full"


@dataclass(frozen=True, slots=True)
class PaidDue:
    """The cents due to one winner, the meter balance in cents after them, and the ledger entry."""

    amount_cents: int
    meter_after_cents: int
    entry: int


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """The answer of the script `apply_events` to one event.

    `text` is the reply. If an earlier event is missing, `text` is the number (seq) of the missing
    event. `entry` is the number of the event's ledger entry. `confirmed_by` is the person who
    confirmed the correction in the event. `asked` is True if a floorperson is asked about the
    correction for the first time. `elsewhere` is set if another table has a result with the same
    round id and cards. `elsewhere` has the other table and the number of that table's ledger entry.
    """

    status: Status
    text: bytes = b""
    paid: tuple[PaidDue, ...] = ()
    entry: int | None = None
    elsewhere: tuple[str, int] | None = None
    confirmed_by: str = ""
    asked: bool = False


def read_answer(row: Sequence[bytes | list[tuple[bytes, bytes, bytes]]]) -> ScriptAnswer:
    """Decode the answer of the script `apply_events` to one event.

    Raises:
        TypeError: the answer has no known form.
    """
    match row:
        case [bytes(status), bytes(reply), bytes(entry), list(dues), bytes(other), bytes(by)]:
            paid = tuple(PaidDue(int(amount), int(after), int(of)) for amount, after, of in dues)
            return ScriptAnswer(
                Status(status.decode()), reply, paid, int(entry), _elsewhere(other), by.decode()
            )
        case [bytes(status), bytes(text), bytes(asked)]:
            return ScriptAnswer(Status(status.decode()), text, asked=bool(asked))
        case [bytes(status), bytes(text)]:
            return ScriptAnswer(Status(status.decode()), text)
        case [bytes(status)]:
            return ScriptAnswer(Status(status.decode()))
        case _:
            raise TypeError(f"the script answered {row!r}")


def _elsewhere(text: bytes) -> tuple[str, int] | None:
    table, _, entry = text.decode().partition(" ")
    return (table, int(entry)) if entry else None
