"""The packed arrays that scripts receive, one per event, and the answers of `apply_events`."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec


class Kind(StrEnum):
    """The kind of a step."""

    WAGERS = "wagers"
    RESULT = "result"
    VOID = "void"
    WITHDRAWAL = "withdrawal"
    REFUSED = "refused"


class Contribution(msgspec.Struct, frozen=True, array_like=True):
    """The amount that one event's wagers add to one meter.

    `limit_micros` is the limit up to which the meter rises, 0 for none.
    """

    meter: str
    wagers: int
    wagered_cents: int
    meter_micros: int
    reserve_micros: int
    limit_micros: int = 0


class PercentStep(msgspec.Struct, frozen=True, array_like=True):
    """A percentage of a meter in equal shares, and the meter's reseed after 100%.

    `limit_micros` is the limit of the reseed, 0 for none.
    """

    meter: str
    percent: int
    shares: int
    reseed_micros: int
    reseed_from_reserve: bool
    limit_micros: int = 0


class DueStep(msgspec.Struct, frozen=True, array_like=True):
    """The amount due to one winner: a share of a take (counted from 1), or fixed cents.

    `claim_key` is the place of the claim's key among the script's keys, or 0 if the win needs no
    validation. `holds` is the beginning, up to the amount, of the text about a claim that holds its
    table; it is empty for any other claim. `envy` is the claim under which an Envy Bonus is owed;
    it is empty for anything else.
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

    `record` is the record of a claim for Envy Bonuses only. It is empty if a win of the result
    opens the claim.
    """

    claim_key: int
    claim: str
    meter: str
    record: str


class AskStep(msgspec.Struct, frozen=True, array_like=True):
    """A correction that needs a floorperson's confirmation.

    `digest` is the digest of the request. `ask` is its id and `text` is what people are shown, both
    used only for a new request.
    """

    digest: str
    ask: str
    text: str


class ReplyWork(msgspec.Struct, frozen=True, array_like=True):
    """The work of a void, a withdrawal or a refusal: only the reply."""

    reply: str


class WagersWork(msgspec.Struct, frozen=True, array_like=True):
    """The work of accepted wagers.

    `despite_hold` is for wagers that were accepted before and are applied again in a restored
    store. Their table was not held at that time.
    """

    reply: str
    draw: str
    contributions: tuple[Contribution, ...]
    despite_hold: bool = False


class ResultWork(msgspec.Struct, frozen=True, array_like=True):
    """The work of a result. A number in the reply is replaced by the cents of that due, from 1.

    `dealt` is the digest of its round id and cards, empty if there is none.
    """

    reply: tuple[str | int, ...]
    takes: tuple[PercentStep, ...]
    dues: tuple[DueStep, ...]
    envy: tuple[EnvyStep, ...] = ()
    dealt: str = ""


Work = ReplyWork | WagersWork | ResultWork


class ScriptStep(msgspec.Struct, frozen=True, array_like=True):
    """One validated event for `apply_events`.

    `basis` is the seq of the wagers that a result is based on. `act` says that its entry is among
    the acts. `ask` is set if a floorperson must confirm it.
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
    """The amounts of an open round for one meter, kept by `apply_events` and undone by a void."""

    meter: str
    wagers: int
    wagered_cents: int
    meter_micros: int
    reserve_micros: int
    overflow_micros: int
    cycle: int


class EnvyCents(NamedTuple):
    """The cents of Envy Bonuses owed under a claim, by meter."""

    meter: str
    cents: int


class HeldTable(NamedTuple):
    """A table held by wins, for `upgrade_link`: its key's position, and the wins, a line each."""

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
"""The arrays whose positions have names in the scripts, by the prefix of the names."""


def position_names() -> str:
    """Write the Lua locals that name the positions of these arrays, such as ``EVENT_SEQ``."""
    return "\n".join(
        f"local {prefix}_{name.upper()} = {position}"
        for prefix, array in PACKED_ARRAYS.items()
        for position, name in enumerate(array.__annotations__, start=1)
    )


class Status(StrEnum):
    """The status of a step that `apply_events` answers, in the order of its header."""

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
    """The cents of a due, the meter balance after it in cents, and the ledger entry."""

    amount_cents: int
    meter_after_cents: int
    entry: int


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """The script's answer to one step.

    `text` is the reply, or the expected seq of a gap. `entry` is the ledger entry of the event.
    `confirmed_by` is the person who confirmed its correction. `asked` says that a floorperson is
    asked for the first time. `elsewhere` is another table and its entry, of a result with the same
    round id and cards.
    """

    status: Status
    text: bytes = b""
    paid: tuple[PaidDue, ...] = ()
    entry: int | None = None
    elsewhere: tuple[str, int] | None = None
    confirmed_by: str = ""
    asked: bool = False


def read_answer(row: Sequence[bytes | list[tuple[bytes, bytes, bytes]]]) -> ScriptAnswer:
    """Read the script's answer to a step.

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
