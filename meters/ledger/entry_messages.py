"""What ledger entries say: wagers and replies of tables, and the records of the service.

Each function raises a `msgspec.DecodeError` or `UnicodeDecodeError` if it cannot decode the text.
"""

from collections import Counter
from collections.abc import Sequence
from datetime import date
from functools import lru_cache
from typing import Final, Literal

import msgspec

from bonus.rounds import Line
from meters.floor.promotions import YEAR_MAX
from meters.ledger.link_state import Act, ClaimChange, ClaimRequest, EnvyAct
from meters.ledger.money_terms import Parameter
from meters.wire.messages import (
    ClaimOpened,
    Reply,
    UndecodedCorrection,
    UndecodedWagers,
    WagerCorrection,
    WageredPosition,
    Wagers,
)

SERVICE: Final = "service"
"""The actor in entries that the meter service writes by itself."""

_KEPT: Final = 4_096
"""Count of decoded wagers that are kept. Players repeat wagers, so this makes a replay faster."""
_KEPT_RESULTS: Final = 4
"""Count of decoded results that are kept: a result is needed again only in the replay of the same
entry.
"""
_WAGERS: Final = msgspec.json.Decoder(Wagers | WagerCorrection)
_UNDECODED: Final = msgspec.json.Decoder(UndecodedWagers | UndecodedCorrection)
_CORRECTION: Final = msgspec.json.Decoder(WagerCorrection)
_POSITIONS: Final = msgspec.json.Decoder(list[WageredPosition])
_REPLY: Final = msgspec.json.Decoder(Reply)


class PlacedWagers(msgspec.Struct, frozen=True):
    """The wagers of an event, without its sequence number, time and round.

    `text` has the positions as JSON. `wagers` has position, name and cents, sorted. `counts` has
    the number of positions with each wager, by name and amount in cents.
    """

    text: bytes
    positions: list[WageredPosition]
    wagers: list[tuple[int, str, int]]
    counts: tuple[tuple[tuple[str, int], int], ...]


class SettledReply(msgspec.Struct, frozen=True):
    """The reply to a result. `paid` are the settlement lines that pay an amount or a percentage."""

    reply: Reply
    paid: tuple[Line, ...]
    has_envy: bool


@lru_cache(_KEPT)
def placed_in(event: bytes) -> PlacedWagers:
    """Return the wagers of a ledger entry, without what changes from round to round."""
    if event.count(b'"positions"') > 1 or b"\\" in event:
        # If the event has a field twice, both values must be valid.
        _WAGERS.decode(event)
    decoded = _UNDECODED.decode(event)
    placed = _placed(bytes(decoded.positions))
    if not placed.positions and isinstance(decoded, UndecodedWagers):
        raise msgspec.ValidationError("the event has no wagers")
    return placed


def correction_of_wager(event: bytes) -> WagerCorrection:
    return _CORRECTION.decode(event)


@lru_cache(_KEPT)
def _placed(positions: bytes) -> PlacedWagers:
    decoded = _POSITIONS.decode(positions)
    wagers = [
        (one.position, wager, cents) for one in decoded for wager, cents in one.wagers.items()
    ]
    counts = Counter((wager, cents) for _, wager, cents in wagers)
    return PlacedWagers(positions, decoded, sorted(wagers), tuple(counts.items()))


def reply_in(reply: bytes) -> Reply:
    return _REPLY.decode(reply)


def must_hit_by_wins(reply: bytes) -> Sequence[ClaimOpened]:
    """Return the wins of must-hit-by meters in the reply to accepted wagers."""
    return reply_in(reply).claims or () if b'"claims"' in reply else ()


@lru_cache(_KEPT_RESULTS)
def settled_in(reply: bytes) -> SettledReply:
    decoded = _REPLY.decode(reply)
    paid = tuple([line for line in decoded.lines or () if line.paid or line.percent])
    return SettledReply(decoded, paid, any(line.envy_of is not None for line in paid))


VERSIONS_RAISED: Final = 1_000_000_000
"""The number by which a restore raises the version number of each meter. Displays ignore values
with old version numbers. After the last copy of Redis and before the loss of Redis, version numbers
can have risen, but not by this much."""


class Archived(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The record in the ledger about an archived gaming day.

    Attributes:
        first: the number of the day's first ledger entry.
        last: the number of the day's last entry, the meter reading that closed the day.
        digest: the digest of the archive file.
        books: the digest of the link's state at the close of the day.
    """

    day: date
    first: int
    last: int
    digest: str
    books: str


class Expired(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The record in the ledger about old archive files that were deleted.

    Attributes:
        since: the first gaming day of these files.
        until: the last gaming day of these files.
        last: the number of the last ledger entry in the files.
        digest: the digest of the last file.
    """

    since: date
    until: date
    last: int
    digest: str


class RestoreEntry(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A restore of a link's data in Redis, with the sources of the data.

    Attributes:
        seen: the count of ledger entries before the loss, according to the ledger mark.
        chain: the digest of the last of these entries.
        held: the number of the last entry that remained in Redis or in a copy of the ledger.
        copied: true if the entries were written from this copy.
        events: the count of events from the tables' outboxes that the restore applied.
        differing: the events whose reply differs from the reply before the loss, each as
            ``TABLE SEQ``.
        without: the tables that the person named with `--without`. Lost events of these tables were
            abandoned.
        versions_raised: by how much the restore raised each meter's version number, for displays.
        kept: payout slip numbers that remain reserved, each with its claim. The restored data has
            no payment with such a number, but a payment before the loss can have used the number.
        confirmed: true if the person who restored the data confirmed the name with a PIN.
    """

    seen: int
    chain: str
    held: int
    copied: bool
    events: int
    differing: tuple[str, ...] = ()
    without: tuple[str, ...] = ()
    versions_raised: int = VERSIONS_RAISED
    kept: dict[str, str] = {}
    confirmed: bool = False


class Outage(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A period in which a link did not operate, or several such periods shortly after one another.

    Attributes:
        id: a name that no other outage has.
        since: the beginning, RFC 3339 in UTC.
        reasons: the first few different reasons.
        times: how often the link stopped operating in this time.
        until: the end, RFC 3339 in UTC; empty while the outage lasts.
    """

    id: str
    since: str
    reasons: tuple[str, ...]
    times: int = 1
    until: str = ""


class CloseReading(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """A meter reading at the close of a gaming day, as Redis had it.

    Attributes:
        accounts: the balance of each account, in micros.
        tallies: each accounting meter.
    """

    day: date
    accounts: dict[str, int]
    tallies: dict[str, int]


class DecisionRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """A person's act on a claim.

    The act is a decision, a request that a second person must confirm, the withdrawal of a request,
    or a change of a decided claim.

    Attributes:
        act: the kind of the entry.
        envy_back: the cents of the Envy Bonuses that a rejection takes back.
        pin_set_by: the people who set the PIN of `by` in the 24 hours before the act.
        envy_paid: the cents of the Envy Bonuses that were paid with the win.
        request: the ledger entry of the request that this act confirms or withdraws, or 0.
        requested_by: who made the request that this act confirms.
        old_slip: the slip number that a correction replaces.
    """

    claim: str
    act: Act | EnvyAct | ClaimRequest | ClaimChange
    by: str
    reason: str | None = None
    slip: str | None = None
    envy_back: int = 0
    pin_set_by: tuple[str, ...] = ()
    envy_paid: int = 0
    request: int = 0
    requested_by: str | None = None
    old_slip: str | None = None


class SwitchRecord(msgspec.Struct, frozen=True, omit_defaults=True):
    """The closing or opening of a link.

    Attributes:
        act: ``close`` or ``open``.
        reason: why the link was closed.
    """

    act: str
    by: str
    reason: str = ""


class Withdrawn(msgspec.Struct, frozen=True):
    """The withdrawal of a proposal.

    Attributes:
        proposal: the id of the proposal.
        by: who withdrew the proposal.
    """

    proposal: str
    by: str
    meter: str


class Change(msgspec.Struct, frozen=True, omit_defaults=True):
    """A change of a meter: proposed, or confirmed.

    Attributes:
        proposal: the id of the proposal.
        kind: whether a parameter gets a new value, or the balance of the meter changes.
        by: who proposed the change.
        before: the value before the change, or the balance when the change was proposed, in words.
        after: the new value, or the amount to add or to subtract, in words.
        parameter: the name of the parameter.
        value: the new value of the parameter.
        amount: the cents that an adjustment adds, or subtracts if negative.
        cycle: the cycle of the meter when the change was proposed.
        terms: the terms of the meter after a change of a parameter, as JSON.
        confirmed_by: who confirmed the change.
        pin_set_by: the people who set the PIN of `by` in the 24 hours before the proposal.
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


class PromotionAdded(msgspec.Struct, frozen=True, forbid_unknown_fields=True, omit_defaults=True):
    """What the house added to a meter because of a promotion.

    A promotion that adds a sum has one entry for each start. A promotion that adds a part of each
    wager has an entry without an amount when a service begins to count the wagers, then one every
    few minutes if wagers were made, and one at the end.

    Attributes:
        promotion: the id of the promotion in the floor file.
        name: the name of the promotion for people.
        day: the day of the start, by the facility's clock.
        amount: the cents that were added to the meter or, above its payout limit, to its overflow.
        count: for a part of each wager, whether the count of the wagers begins, goes on or ends;
            null for a sum, as the next three.
        wagered_before: the cents of all wagers on the meter before the count began, without those
            that were taken back.
        wagered: the same for the wagers since then.
        added: the cents that were added since then, with this entry.
    """

    promotion: str
    name: str
    meter: str
    day: date
    amount: int
    count: Literal["begins", "goes_on", "ends"] | None = None
    wagered_before: int = 0
    wagered: int = 0
    added: int = 0

    def __post_init__(self) -> None:
        # Beyond these years, an hour before or after a day is no time in Python.
        if not 1 < self.day.year <= YEAR_MAX:
            raise ValueError(f"{self.day} is no day of a promotion")


DECIDED: Final = msgspec.json.Decoder(DecisionRecord)
SWITCHED: Final = msgspec.json.Decoder(SwitchRecord)
CHANGED: Final = msgspec.json.Decoder(Change)
WITHDRAWN: Final = msgspec.json.Decoder(Withdrawn)
EXPIRED: Final = msgspec.json.Decoder(Expired)
ARCHIVED: Final = msgspec.json.Decoder(Archived)
RESTORING: Final = msgspec.json.Decoder(RestoreEntry)
OUTAGE: Final = msgspec.json.Decoder(Outage)
READING: Final = msgspec.json.Decoder(CloseReading)
PROMOTION_ADDED: Final = msgspec.json.Decoder(PromotionAdded)
