"""The msgpack arrays that the Lua scripts receive, and the answers of the script `apply_events`."""

from collections.abc import Mapping, Sequence
from enum import StrEnum
from typing import Final, NamedTuple

import msgspec


class Kind(StrEnum):
    """The kind of a table's event, as the script `apply_events` distinguishes it."""

    WAGERS = "wagers"
    RESULT = "result"
    VOID = "void"
    CORRECT_WAGER = "correct_wager"
    WITHDRAWAL = "withdrawal"
    REFUSED = "refused"


class Contribution(msgspec.Struct, frozen=True, array_like=True):
    """What one event's wagers add to a meter. `limit_micros` is the payout limit; 0 for none.

    If the meter has `threshold_micros` or more before the event, the wagers add
    `meter_above_micros` and `reserve_above_micros` instead. The three are 0 if the rates of the
    meter do not change. What is above the limit goes to the meter `overflow_to`, whose own limit is
    `limit_there_micros`; if it is empty, to the overflow of the meter.
    """

    meter: str
    wagers: int
    wagered_cents: int
    meter_micros: int
    reserve_micros: int
    limit_micros: int = 0
    threshold_micros: int = 0
    meter_above_micros: int = 0
    reserve_above_micros: int = 0
    overflow_to: str = ""
    limit_there_micros: int = 0


class PercentStep(msgspec.Struct, frozen=True, array_like=True):
    """A percentage of a meter that is paid in equal shares.

    `percent_bps` is in basis points: 10,000 is all of the meter. A reseed fills the meter with its
    reserve if `from_reserve` is true, and with `reseed_micros`. It fills the meter at most up to
    the payout limit `limit_micros`; 0 means no limit. If `continues` is true, the percentage is of
    the same balance as the step before it on this meter. If `reseeds` is true, the meter begins its
    next cycle after it. `overflow_to` and `limit_there_micros` are as in `Contribution`.
    """

    meter: str
    percent_bps: int
    shares: int
    reseed_micros: int
    from_reserve: bool
    limit_micros: int = 0
    continues: bool = False
    reseeds: bool = False
    overflow_to: str = ""
    limit_there_micros: int = 0


class DueStep(msgspec.Struct, frozen=True, array_like=True):
    """The amount that is due to one winner: one share of a `PercentStep`, or fixed cents.

    `take` is 0 for fixed cents. For a share, it is the place of its `PercentStep` in the result,
    from 1. `claim_key` is the place of the claim's Redis key among the keys of the script call, or
    0 if the win needs no validation. If the claim holds its table, refusals show a text about the
    claim. `holds` is the beginning of this text; the script adds the amount. If the amount is an
    Envy Bonus that is owed, `envy` is the claim under which it is owed. `elsewhere` is true if the
    winner is at another table of the link.
    """

    take: int
    fixed_cents: int
    meter: str
    claim_key: int
    claim: str
    record: str
    holds: str = ""
    envy: str = ""
    elsewhere: bool = False


class EnvyStep(msgspec.Struct, frozen=True, array_like=True):
    """The Envy Bonuses of a result that are owed under one claim.

    If a win of the result opens the claim, `record` is empty. If not, the script opens a claim with
    `record` for these Envy Bonuses alone.
    """

    claim_key: int
    claim: str
    meter: str
    record: str


class AskStep(msgspec.Struct, frozen=True, array_like=True):
    """A correction that a floorperson must confirm.

    `digest` is the digest of the correction. If the script does not have the request yet, it stores
    `ask`, the id of the request, and `text`, the request for the floor page. `known` are the cards
    that this and earlier requests of the round named.
    """

    digest: str
    ask: str
    text: str
    known: str


ReplyParts = tuple[str | int, ...]
"""The parts of a reply: texts and numbers. Each number is replaced with an amount in cents: the
number 1 with the amount of the first element of `ResultWork.dues`, and so on. A reply without such
amounts has one part."""


class ReplyWork(msgspec.Struct, frozen=True, array_like=True):
    """The data that the script `apply_events` needs for a withdrawal or refusal: only the reply."""

    reply: str


class HitStep(msgspec.Struct, frozen=True, array_like=True):
    """The win of a must-hit-by meter by one wager of an event.

    `micros` are the contributions of the event's wagers since the win before, up to the winning
    wager. `reseed_micros` is the minimum, and `from_reserve_micros` is what the reserve adds to it.
    `sealed` is the hidden value of the next cycle.
    """

    due: DueStep
    micros: int
    reseed_micros: int
    from_reserve_micros: int
    sealed: str


class HiddenStep(msgspec.Struct, frozen=True, array_like=True):
    """What the service knows about a must-hit-by meter that an event feeds.

    The script does not know the hidden value, so the service decides who wins. It decides for a
    meter with `meter_micros`, a reserve with `reserve_micros`, and the hidden value in `sealed`:
    with others in Redis, the script does nothing with the event. A service that only asks if an
    event would be accepted sends `ASKS` as `meter_micros`.
    """

    meter: str
    meter_micros: int
    reserve_micros: int
    sealed: str
    hits: tuple[HitStep, ...] = ()


ASKS: Final = -1
"""An amount that no meter has."""


class WagersWork(msgspec.Struct, frozen=True, array_like=True):
    """The data that the script `apply_events` needs for a table's accepted wagers.

    `contributions` is the text from `contributions_text`. With `despite_hold`, the script must
    accept the wagers even from a held table. A restore sets `despite_hold`, because the table was
    not held when the service first accepted these wagers. `hidden` are the must-hit-by meters that
    the wagers feed.
    """

    draw: str
    contributions: str
    despite_hold: bool = False
    hidden: tuple[HiddenStep, ...] = ()


class CorrectionWork(msgspec.Struct, frozen=True, array_like=True):
    """The data that the script `apply_events` needs to add a wager or to take it back.

    `contributions` is the text from `contributions_text`, for this wager alone. `wager` names the
    wager as in `RoundContribution`. `adds` is False if the wager is taken back. `hidden` are the
    must-hit-by meters that an added wager feeds.
    """

    contributions: str
    wager: str
    adds: bool
    hidden: tuple[HiddenStep, ...] = ()


class RoundBasis(NamedTuple):
    """A table's open round, by the sequence number (`seq`) of the event with its wagers."""

    table: str
    basis: int


class LinkStep(msgspec.Struct, frozen=True, array_like=True):
    """The open rounds of the other tables that contributed to a meter, as the service knew them.

    If Redis has other such rounds, the script does nothing with the result.
    """

    meter: str
    rounds: tuple[RoundBasis, ...]


class ResultWork(msgspec.Struct, frozen=True, array_like=True):
    """The data that the script `apply_events` needs for the result of a round.

    `dealt` is the digest of the round id and the dealt cards; empty if the result has no player's
    hand. `gaps` has the parts of a reply with amounts that only the script knows; empty if the
    service knows all amounts. `link` has a step for each meter of which the players at all tables
    of the link divide a part.
    """

    takes: tuple[PercentStep, ...]
    dues: tuple[DueStep, ...]
    envy: tuple[EnvyStep, ...] = ()
    dealt: str = ""
    gaps: ReplyParts = ()
    link: tuple[LinkStep, ...] = ()


Work = ReplyWork | WagersWork | CorrectionWork | ResultWork


class ScriptStep(msgspec.Struct, frozen=True, array_like=True):
    """One validated event for the script `apply_events`.

    `basis` is the sequence number (`seq`) of the event with the round's wagers, with which a result
    or a correction of a wager was validated. With `act`, the script must put the ledger entry of
    the event into the index of acts, like a decision of a person. `ask` is set if a floorperson
    must confirm the event. `known` are the cards that earlier correction requests of the round
    named, as the service knew them; None if they make no difference for the event.
    """

    table: str
    seq: int
    digest: str
    kind: Kind
    round: str
    basis: int | None
    work: Work | None
    act: bool = False
    ask: AskStep | None = None
    known: str | None = None


class RoundContribution(NamedTuple):
    """The contribution of an open round's wagers to one meter.

    The script `apply_events` stores the contribution in Redis, so a void can undo it. `wager` is
    empty for the wagers at lock-out. A wager that a correction added has a contribution of its own,
    because the meter can be in another cycle by then. For such a wager, `wager` is the position, a
    colon and the name of the wager. `overflow_micros` are above the limit of the meter. If they
    went to another meter, `passed_to` is this meter, and `passed_cycle` its cycle at that time.
    """

    meter: str
    wagers: int
    wagered_cents: int
    meter_micros: int
    reserve_micros: int
    overflow_micros: int
    cycle: int
    wager: str
    passed_to: str = ""
    passed_cycle: int = 0


class EnvyCents(NamedTuple):
    """The sum in cents of the Envy Bonuses that are owed under one claim for one meter."""

    meter: str
    cents: int


class PackedTable(msgspec.Struct, frozen=True, array_like=True, forbid_unknown_fields=True):
    """The state of a table in Redis, packed into one field of the Redis hash of tables.

    `last` is the sequence number of the table's last event. `over` is the round that ended last.
    `held` has the wins that hold the table, one on each line. `round` is the open round. `basis` is
    the sequence number of the event with the round's wagers: the wagers event, or the last
    correction of a wager. `draw` is the draw of the round as JSON. `contributed` has the
    contribution of the round to each meter, so a void can undo it. `entry` is the number of the
    ledger entry with the event `basis`. If Redis no longer has this entry, `entry` is 0, and the
    text of the event is in the Redis hash of rounds. Without an open round, the fields from `round`
    to `entry` are empty or 0. `known` are the entered cards that correction requests of the open
    round named, as `known_text` writes them.
    """

    last: int
    over: str
    held: str
    round: str
    basis: int
    draw: str
    contributed: tuple[RoundContribution, ...]
    entry: int
    known: str


class Status(StrEnum):
    """The status of an event in the answer of the script `apply_events`.

    The header of the script explains each status, in the same order.
    """

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
    OTHER_METERS = "other_meters"


OF_HIDDEN: Final = "hidden"
OF_LINK: Final = "link"
"""Why an event must be judged again, beside the status ``moved``."""


class PaidDue(msgspec.Struct, frozen=True, array_like=True):
    """An amount due to one winner, the meter balance after the win, and the entry's number."""

    amount_cents: int
    meter_after_cents: int
    entry: int


class ScriptAnswer(msgspec.Struct, frozen=True, array_like=True):
    """The answer of the script `apply_events` to one event.

    `text` is the reply to the event, or empty for an accepted event (see `reply_text`). If the
    event must be judged again because of a must-hit-by meter, `text` is `OF_HIDDEN`; because of the
    open rounds of other tables, `OF_LINK`. If an earlier event of the table is missing, `text` is
    the sequence number of that event. `asked` is true if the script stored a new correction
    request. `entry` is the number of the ledger entry with the event and its reply. If another
    table has a result with the same round id and cards, `elsewhere` is that table's id, a blank,
    and the number of that result's ledger entry.
    `confirmed_by` is the person who confirmed the correction in the event.
    """

    status: Status
    text: str = ""
    asked: bool = False
    entry: int | None = None
    paid: tuple[PaidDue, ...] = ()
    elsewhere: str = ""
    confirmed_by: str = ""


class HiddenState(NamedTuple):
    """The state of a must-hit-by meter in Redis. `sealed` is its hidden value, encrypted."""

    meter: str
    meter_micros: int
    reserve_micros: int
    cycle: int
    sealed: str


class ScriptAnswers(msgspec.Struct, frozen=True, array_like=True):
    """The answers of the script `apply_events` to the events of one call, in their order.

    `terms` is True if the call had the terms of the link; otherwise nothing was done. `entry` and
    `chain` are the number and the digest of the last ledger entry. `in_ledger` is true if the
    ledger itself ends with this entry. `hidden` has the state after the call of each must-hit-by
    meter that the events feed.
    """

    terms: bool
    entry: int = 0
    chain: str = ""
    in_ledger: bool = False
    answers: tuple[ScriptAnswer, ...] = ()
    hidden: tuple[HiddenState, ...] = ()


SCRIPT_ANSWERS: Final = msgspec.msgpack.Decoder(ScriptAnswers)


def contributions_text(contributions: Sequence[Contribution]) -> str:
    """Return the contributions of one event's wagers as JSON for the script `apply_events`.

    >>> contributions_text([Contribution("progressive", 1, 100, 140_000, 0)])
    '[["progressive",1,100,140000,0,0,0,0,0,"",0]]'
    """
    return msgspec.json.encode(contributions).decode()


def reply_text(parts: Sequence[str | int], cents: Sequence[int]) -> bytes:
    """Put amounts in cents into the parts of a reply, as `ReplyParts` explains.

    >>> reply_text(['{"amount":', 1, "}"], [600])
    b'{"amount":600}'
    """
    if len(parts) == 1 and isinstance(parts[0], str):
        return parts[0].encode()
    return "".join(one if isinstance(one, str) else str(cents[one - 1]) for one in parts).encode()


PACKED_ARRAYS: Final[Mapping[str, type]] = {
    "EVENT": ScriptStep,
    "REPLY_WORK": ReplyWork,
    "WAGERS_WORK": WagersWork,
    "CORRECTION_WORK": CorrectionWork,
    "HIDDEN": HiddenStep,
    "HIT": HitStep,
    "RESULT_WORK": ResultWork,
    "LINK": LinkStep,
    "OPEN": RoundBasis,
    "ADDED": Contribution,
    "TAKE": PercentStep,
    "DUE": DueStep,
    "ENVY": EnvyStep,
    "ASK": AskStep,
    "CONTRIBUTED": RoundContribution,
    "OWED": EnvyCents,
    "TABLE": PackedTable,
    "ANSWER": ScriptAnswer,
    "ANSWERS": ScriptAnswers,
}
"""The arrays whose elements have names in the Lua scripts. Each key is the prefix of the names."""

POSITIONS: Final[Mapping[str, int]] = {
    f"{prefix}_{name.upper()}": position
    for prefix, array in PACKED_ARRAYS.items()
    for position, name in [
        *enumerate(array.__annotations__, start=1),
        (len(array.__annotations__), "fields"),
    ]
}
"""The place of each array element by its name in the Lua scripts, such as ``EVENT_SEQ``, and the
count of the elements, such as ``EVENT_FIELDS``."""
