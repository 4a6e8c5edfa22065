"""What `apply_events` is given and what it answers: one step an event."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import msgspec


class Kind(StrEnum):
    """What a step does."""

    WAGERS = "wagers"
    RESULT = "result"
    VOID = "void"
    REFUSED = "refused"


class Contribution(msgspec.Struct, frozen=True, array_like=True):
    """What the wagers of one event add to one meter, which rises to its limit, 0 for none."""

    meter: str
    wagers: int
    wagered_cents: int
    meter_micros: int
    reserve_micros: int
    limit_micros: int = 0


class TakeStep(msgspec.Struct, frozen=True, array_like=True):
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
    validate.
    """

    take: int
    fixed_cents: int
    meter: str
    claim_key: int
    claim: str
    record: str


class ReplyWork(msgspec.Struct, frozen=True, array_like=True):
    """The work of a void or a refusal: the reply, and nothing else."""

    reply: str


class WagersWork(msgspec.Struct, frozen=True, array_like=True):
    """The work of accepted wagers."""

    reply: str
    draw: str
    contributions: tuple[Contribution, ...]


class ResultWork(msgspec.Struct, frozen=True, array_like=True):
    """The work of a result; a number in the reply stands for that due's cents, from 1."""

    reply: tuple[str | int, ...]
    takes: tuple[TakeStep, ...]
    dues: tuple[DueStep, ...]


Work = ReplyWork | WagersWork | ResultWork


class Step(msgspec.Struct, frozen=True, array_like=True):
    """One event, judged, for `apply_events`. `basis` is the wagers' seq that a result rests on."""

    table_key: int
    table: str
    seq: int
    digest: str
    kind: Kind
    round: str
    basis: int | None
    event: str
    work: Work | None


class Status(StrEnum):
    """What `apply_events` answers to a step, in order of precedence."""

    AGAIN = "again"
    SEQ_REUSED = "seq_reused"
    SEQ_PASSED = "seq_passed"
    GAP = "gap"
    MOVED = "moved"
    ACCEPTED = "accepted"
    REFUSED = "refused"
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
class Answer:
    """What the script made of one step.

    `text` is the reply, or the expected seq of a gap; `entry` is the ledger entry that it became.
    """

    status: Status
    text: bytes = b""
    paid: tuple[PaidDue, ...] = ()
    entry: int | None = None


def read_answer(row: Sequence[bytes | list[tuple[bytes, bytes, bytes]]]) -> Answer:
    """What the script answered to a step.

    Raises:
        TypeError: nothing that it answers.
    """
    match row:
        case [bytes(status), bytes(reply), bytes(entry), list(dues)]:
            paid = tuple(PaidDue(int(amount), int(after), int(of)) for amount, after, of in dues)
            return Answer(Status(status.decode()), reply, paid, int(entry))
        case [bytes(status), bytes(text)]:
            return Answer(Status(status.decode()), text)
        case [bytes(status)]:
            return Answer(Status(status.decode()))
        case _:
            raise TypeError(f"the script answered {row!r}")
