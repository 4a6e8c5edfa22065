"""The arrays that scripts are given packed, and what `apply_events` answers: one step an event."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec


class Kind(StrEnum):
    """What a step does."""

    WAGERS = "wagers"
    RESULT = "result"
    VOID = "void"
    WITHDRAWAL = "withdrawal"
    REFUSED = "refused"


class Contribution(msgspec.Struct, frozen=True, array_like=True):
    """What the wagers of one event add to one meter, which rises to its limit, 0 for none."""

    meter: str
    wagers: int
    wagered_cents: int
    meter_micros: int
    reserve_micros: int
    limit_micros: int = 0


class PercentStep(msgspec.Struct, frozen=True, array_like=True):
    """A percentage of a meter in so many equal shares, and how the meter reseeds after 100%.

    `limit_micros` is how far it reseeds at most, 0 for no limit.
    """

    meter: str
    percent: int
    shares: int
    reseed_micros: int
    reseed_from_reserve: bool
    limit_micros: int = 0


class DueStep(msgspec.Struct, frozen=True, array_like=True):
    """What is due to one winner: a share of a take (counted from 1), or fixed cents.

    `claim_key` is the place of the claim's key among the script's keys, 0 where nobody need
    validate. `holds` names a claim that holds its table, as the table is told of it, up to its
    amount; it is empty for any other. `envy` is the claim under which an Envy Bonus is owed; empty
    for what is none.
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

    `record` is that of a claim for nothing but Envy; empty where a win of the result opens it.
    """

    claim_key: int
    claim: str
    meter: str
    record: str


class AskStep(msgspec.Struct, frozen=True, array_like=True):
    """A correction that needs a floorperson's confirmation.

    `digest` is of what is asked, `ask` its id and `text` what people are shown, should it be new.
    """

    digest: str
    ask: str
    text: str


class ReplyWork(msgspec.Struct, frozen=True, array_like=True):
    """The work of a void, a withdrawal or a refusal: the reply, and nothing else."""

    reply: str


class WagersWork(msgspec.Struct, frozen=True, array_like=True):
    """The work of accepted wagers.

    `despite_hold` is for wagers that were accepted once, and are taken again into a store that was
    restored: its table was not held then.
    """

    reply: str
    draw: str
    contributions: tuple[Contribution, ...]
    despite_hold: bool = False


class ResultWork(msgspec.Struct, frozen=True, array_like=True):
    """The work of a result; a number in the reply stands for that due's cents, from 1.

    `dealt` is the digest of its round id and cards, empty where there is none.
    """

    reply: tuple[str | int, ...]
    takes: tuple[PercentStep, ...]
    dues: tuple[DueStep, ...]
    envy: tuple[EnvyStep, ...] = ()
    dealt: str = ""


Work = ReplyWork | WagersWork | ResultWork


class ScriptStep(msgspec.Struct, frozen=True, array_like=True):
    """One event, judged, for `apply_events`.

    `basis` is the wagers' seq that a result rests on. `act` says that its entry is among the acts.
    `ask` is there where a floorperson must confirm it.
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
    """What `apply_events` keeps of an open round's wagers on one meter, which a void takes off."""

    meter: str
    wagers: int
    wagered_cents: int
    meter_micros: int
    reserve_micros: int
    overflow_micros: int
    cycle: int


class EnvyCents(NamedTuple):
    """What is owed for Envy under a claim, by meter."""

    meter: str
    cents: int


class HeldTable(NamedTuple):
    """A table that wins hold, for `upgrade_link`: its key's position, and the wins, a line each."""

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
"""The arrays whose positions have names in the scripts, by what the names begin with."""


def position_names() -> str:
    """Write the Lua locals that name the positions of these arrays, such as ``EVENT_SEQ``."""
    return "\n".join(
        f"local {prefix}_{name.upper()} = {position}"
        for prefix, array in PACKED_ARRAYS.items()
        for position, name in enumerate(array.__annotations__, start=1)
    )


class Status(StrEnum):
    """What `apply_events` answers to a step, in the order of its header."""

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
    """What a due came to, the meter after it (both in cents), and the ledger entry."""

    amount_cents: int
    meter_after_cents: int
    entry: int


@dataclass(frozen=True, slots=True)
class ScriptAnswer:
    """What the script made of one step.

    `text` is the reply, or the expected seq of a gap; `entry` is the ledger entry that it became.
    `confirmed_by` confirmed the correction that it is; `asked` says that a floorperson is asked
    for it now, and was not before.
    `elsewhere` are another table and its entry, of a result with the same round id and cards.
    """

    status: Status
    text: bytes = b""
    paid: tuple[PaidDue, ...] = ()
    entry: int | None = None
    elsewhere: tuple[str, int] | None = None
    confirmed_by: str = ""
    asked: bool = False


def read_answer(row: Sequence[bytes | list[tuple[bytes, bytes, bytes]]]) -> ScriptAnswer:
    """What the script answered to a step.

    Raises:
        TypeError: nothing that it answers.
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
