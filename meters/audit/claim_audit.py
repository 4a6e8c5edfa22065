"""Comparison of claims, payout slips and the indexes of wins and acts with a link's ledger.

An act is a ledger entry about what a person or the service did, or about a correction at a table
(`is_act`).
"""

from bisect import bisect_right
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Final

from meters.ledger.claim_evidence import (
    CLAIM_ACTS,
    Evidence,
    WinPlace,
    claim_differences,
    decided_claim,
)
from meters.ledger.entry_messages import DECIDED, DecisionRecord
from meters.ledger.ledger_replay import PROBLEMS_MAX, Replay
from meters.ledger.link_state import IndexCounts, IndexPart, Snapshot
from meters.ledger.slip_numbers import claim_of
from meters.store.link_store import LinkStore

_AT_ONCE: Final = 25
"""Count of claims that are compared at once. This takes about a millisecond."""
WHOLE_UP_TO: Final = 1_000
"""If there are at most this many claims, each audit compares all claims and indexes."""
CLAIMS_AGAIN: Final = 500
"""Count of old claims and payout slips that an audit of a part compares again."""


_PAGE: Final = 50
"""Count of entries that are read at once. This takes about a millisecond."""

LaterAct = tuple[DecisionRecord, str, int, Mapping[str, bytes]]
"""A decision on a claim, the person who made it, and the number and fields of its ledger entry."""


class LaterEntries:
    """The entries after the last replayed entry. They are read once, and only if they are needed.

    If data in Redis differs from the replayed entries, a later entry can have changed it. While
    tables send events, there can be thousands of later entries.

    `acts` has, by claim, the acts on claims in the entries that were read. `tables` are the tables
    of these entries.
    """

    def __init__(self, store: LinkStore, after: int) -> None:
        self.acts: dict[str, list[LaterAct]] = {}
        self.tables: set[str] = set()
        self._store = store
        self._read_to = after

    async def read_to(self, last: int) -> None:
        """Read the entries up to `last` that were not read yet."""
        while self._read_to < last:
            count = min(_PAGE, last - self._read_to)
            page = await self._store.entries(self._read_to, count)
            if not page:
                return
            for number, fields in page:
                self._read_to = max(number, self._read_to + 1)
                self.tables.add(fields.get("table", b"").decode("utf-8", "replace"))
                if fields.get("kind") in CLAIM_ACTS:
                    decided, by = DECIDED.decode(fields["event"]), fields["by"].decode()
                    act = (decided, by, number, fields)
                    self.acts.setdefault(decided.claim, []).append(act)


@dataclass(frozen=True, slots=True)
class _Compared:
    """The last entry and the counts of the last audit, if that audit found no difference."""

    entries: int
    counts: IndexCounts
    slips: int


class ClaimAudit:
    """The comparison of a link's claims with the link's ledger.

    An audit compares all claims and indexes. If there are many claims, a repeated audit compares
    only a part: new claims and some older claims. Of the indexes, it then compares the members that
    belong to the same ledger entries. The next audit continues with the next older claims.

    `doubles` are texts about payout slips that paid two claims, of which at least one is a claim of
    this link. This can happen if reservations were lost, and a service's floor file lacks one of
    the two links. `unreserved` are the slip numbers, each with its claim, that the last comparison
    found without a reservation.
    """

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self.unreserved: dict[str, str] = {}
        self._compared: _Compared | None = None
        self._old = 0
        self._slips_compared = 0
        self._slips_turn = 0
        self.doubles: tuple[str, ...] = ()

    def begin_again(self) -> None:
        """Compare everything at the next audit, which has another replay."""
        self._compared = None
        self._slips_compared = 0

    def part_of(self, replay: Replay) -> IndexPart | None:
        """Return the part that the next audit compares.

        None means everything: no audit has compared everything so far, or there are few claims.
        """
        evidence, compared = replay.evidence, self._compared
        if compared is None or len(evidence.in_order) <= WHOLE_UP_TO:
            return None
        claims, held = evidence.in_order, evidence.claims
        # The first claims can have been archived and removed.
        del claims[: next((at for at, one in enumerate(claims) if one.claim in held), len(claims))]
        if self._old >= len(claims) or claims[self._old].entry > compared.entries:
            self._old = 0
        begin, self._old = self._old, min(self._old + CLAIMS_AGAIN, len(claims))
        old_after = claims[begin - 1].entry if begin else 0
        old_to = compared.entries
        if self._old < len(claims):
            old_to = min(claims[self._old - 1].entry, old_to)
        meters = tuple(replay.books.terms)
        return IndexPart(compared.entries, min(old_after, old_to), old_to, meters)

    async def problems(
        self,
        replay: Replay,
        snapshot: Snapshot,
        at_most: int | None = None,
        *,
        reserves: bool = False,
    ) -> list[str]:
        """Return the differences between the claims and the ledger, as texts.

        `replay` ends at the last entry of `snapshot`, which has the indexes. If the snapshot has no
        part, `at_most` is the greatest count of payout slips whose reservations are compared. If
        `at_most` is None, all are compared; after a replay from the first entry, reservations
        without a claim in the ledger are found too. If `reserves` is true, the caller reserves the
        numbers in `unreserved`, so these numbers are no difference.
        """
        archived_to = max([replay.begins_after, *(one.last for one in replay.archived)])
        part = snapshot.part
        # A day can close and be archived within a minute, so its acts are counted before they are
        # forgotten.
        counts = _other_counts(replay, snapshot, self._compared)
        acts = replay.evidence.acts
        del acts[: bisect_right(acts, max(archived_to, replay.evidence.acts_after))]
        slips = [*self._looked_at(replay, snapshot, at_most)]
        if part and self._compared and snapshot.counts.slips < _slips_due(replay, self._compared):
            # A slip is lost, or a win again has a slip number that it had before this replay.
            slips = [*replay.evidence.slips.items()]
        found = [
            *counts,
            *_other_waiting(replay, snapshot),
            *_other_wins(replay, snapshot, archived_to),
            *_other_acts(replay, snapshot, archived_to),
            *(await self._other_slips_of_part(slips) if part else _other_slips(replay, snapshot)),
            *await self._other_reservations(replay, slips, at_most, reserves=reserves),
        ]
        due = iter(_due(replay, part))
        later = LaterEntries(self._store, replay.entries)
        while (some := list(islice(due, _AT_ONCE))) and len(found) < PROBLEMS_MAX:
            found += await self._compare(replay, some, archived_to, later)
        self._compared = None
        if not found:
            known = len(replay.evidence.slips)
            self._compared = _Compared(replay.entries, snapshot.counts, known)
        self._slips_compared = len(replay.evidence.slips_in_order)
        return found[:PROBLEMS_MAX]

    async def _other_slips_of_part(self, slips: Iterable[tuple[str, str]]) -> list[str]:
        due = dict(slips)
        held = await self._store.slips_at([*due])
        differences = (_slip_differs(slip, held.get(slip), claim) for slip, claim in due.items())
        return sorted({*differences} - {""})

    async def _other_reservations(
        self,
        replay: Replay,
        slips: Sequence[tuple[str, str]],
        at_most: int | None,
        *,
        reserves: bool,
    ) -> list[str]:
        register, found = self._store.slip_register, list[str]()
        held = await register.held([slip for slip, _ in slips])
        self.unreserved = {slip: claim for slip, claim in slips if slip not in held}
        if not reserves:
            found += [
                f"slip {slip!r} is not reserved, the ledger says it {_did(claim)}"
                for slip, claim in self.unreserved.items()
            ]
        for slip, claim in slips:
            other = held.get(slip)
            if other is None or other.claim == claim_of(claim):
                continue
            if await register.has_paid(slip, other.claim):
                double = f"slip {slip!r} {_did(claim)}, and claim {other.claim} as well"
                self.doubles = (*self.doubles, *({double} - {*self.doubles}))
            else:
                problem = f"is reserved for claim {other.claim}, the ledger says it {_did(claim)}"
                found.append(f"slip {slip!r} {problem}")
        if at_most is None and replay.begins_after == 0:
            found += await self._unknown_reservations(replay)
        return sorted(found)

    def _looked_at(
        self, replay: Replay, snapshot: Snapshot, at_most: int | None
    ) -> Iterable[tuple[str, str]]:
        evidence = replay.evidence
        if snapshot.part is None:
            # The replay does not know slips that were used before its first entry.
            before = {
                slip: claim
                for slip, claim in snapshot.slips.items()
                if replay.begins_after and claim not in evidence.opened
            }
            paid = [*(before | evidence.slips).items()]
            if at_most is None or len(paid) <= at_most:
                return paid
            begin = self._slips_turn % len(paid)
            self._slips_turn = begin + at_most
            return (paid + paid)[begin : begin + at_most]
        slips = evidence.slips_in_order
        begin = self._slips_turn if self._slips_turn < len(slips) else 0
        self._slips_turn = begin + CLAIMS_AGAIN
        some = (*slips[begin : self._slips_turn], *slips[self._slips_compared :])
        return {slip: evidence.slips[slip] for slip in some}.items()

    async def _unknown_reservations(self, replay: Replay) -> list[str]:
        store = self._store
        every = await store.slip_register.every()
        unknown = {
            slip: held.claim
            for slip, held in every.items()
            if held.link == store.link.id
            and held.claim not in replay.evidence.opened
            and held.claim != claim_of(replay.evidence.slips.get(slip, ""))
        }
        _, rows = await store.claims_at([*unknown.values()])
        return [
            f"slip {slip!r} is reserved for claim {claim}, which the ledger does not have"
            for (slip, claim), row in zip(unknown.items(), rows, strict=True)
            if not row
        ]

    async def _compare(
        self, replay: Replay, ids: Sequence[str], archived_to: int, later: LaterEntries
    ) -> list[str]:
        evidence = replay.evidence
        entries, rows = await self._store.claims_at(ids)
        found = []
        for claim, held in zip(ids, rows, strict=True):
            if not held and evidence.ended.get(claim, archived_to + 1) <= archived_to:
                # An archived claim is allowed to be missing in Redis.
                evidence.claims.pop(claim, None)
                del evidence.ended[claim]
                continue
            due, assets = evidence.claims[claim], evidence.assets_of(claim)
            differences = claim_differences(claim, due, held, assets)
            if differences:
                # Somebody can have decided the claim since the replay.
                await later.read_to(entries)
                for decided, by, number, entry in later.acts.get(claim, ()):
                    due = decided_claim(due, decided, by, number, entry)
                differences = claim_differences(claim, due, held, assets)
            found += differences
        return found


def _spans(part: IndexPart, place: Callable[[int], int]) -> tuple[slice, slice]:
    """Return the old part and the new part of a list that is in the order of entries.

    `place` returns the place in the list after an entry.
    """
    new = place(part.new_after)
    return slice(place(part.old_after), min(place(part.old_to), new)), slice(new, None)


def _place_of_claim(evidence: Evidence, entry: int) -> int:
    return bisect_right(evidence.in_order, entry, key=itemgetter(0))


def _places_in(replay: Replay, part: IndexPart | None) -> list[WinPlace]:
    evidence = replay.evidence
    spans = _spans(part, partial(_place_of_claim, evidence)) if part else (slice(None),)
    places = (place for span in spans for place in evidence.in_order[span])
    return [place for place in places if place.claim in evidence.claims]


def _due(replay: Replay, part: IndexPart | None) -> Iterable[str]:
    """Return the claims to compare: the undecided claims, and the finally decided claims.

    With `part`, return all undecided claims, but only the decided claims of this part. If too many
    claims are undecided, return only the claims of this part, decided or not.
    """
    known = [place.claim for place in _places_in(replay, part)]
    if part and len(replay.books.waiting) > WHOLE_UP_TO:
        return known
    # A ledger with an entry that cannot be read can lack the record of a claim that waits.
    waiting = replay.books.waiting & replay.evidence.claims.keys()
    return [*waiting, *(claim for claim in known if claim not in waiting)]


def _other_waiting(replay: Replay, snapshot: Snapshot) -> list[str]:
    claims, waiting = replay.evidence.claims, replay.books.waiting
    part = snapshot.part
    due = waiting.intersection(one.claim for one in _places_in(replay, part)) if part else waiting
    found = [
        f"claim {claim} waits, but is not in Redis's list of waiting claims"
        for claim in due
        if claim not in snapshot.waiting
    ]
    for claim, order in snapshot.waiting.items():
        if claim not in waiting:
            found.append(
                f"claim {claim} is in Redis's list of waiting claims, the ledger says it does not"
                " wait"
            )
            continue
        entry = claims[claim]["entry"] if claim in claims else str(order)
        if int(entry) != order:
            found.append(f"claim {claim}: its place in Redis's list is {order}, not {entry}")
    return sorted(found)


def _other_wins(replay: Replay, snapshot: Snapshot, archived_to: int) -> list[str]:
    evidence = replay.evidence
    due: dict[str, str] = {}
    optional: set[str] = set()
    for place in _places_in(replay, snapshot.part):
        due |= dict.fromkeys(place.members, place.claim)
        if evidence.ended.get(place.claim, archived_to + 1) <= archived_to:
            optional.update(place.members)
    found = [
        f"claim {due[member]} is not in the index of wins"
        for member in due.keys() - snapshot.wins - optional
    ]
    found += [
        f"the index of wins has {member[:100]!r}, which the ledger does not have"
        for member in snapshot.wins - due.keys()
        # Redis forgets earlier wins some time after their entries.
        if _order_of(member) > replay.claims_after
    ]
    if snapshot.misplaced:
        found.append(f"{snapshot.misplaced} wins are out of their order in the index")
    return sorted(found)


def _other_acts(replay: Replay, snapshot: Snapshot, archived_to: int) -> list[str]:
    """Compare the index of acts. It can lack archived acts."""
    acts, held, part = replay.evidence.acts, snapshot.acts, snapshot.part
    spans = _spans(part, partial(bisect_right, acts)) if part else (slice(None),)
    due = {str(act) for span in spans for act in acts[span]}
    archived_to = max(archived_to, replay.evidence.acts_after)
    found = [f"entry {act} is not in the index of acts" for act in due - held.keys()]
    found += [
        f"the index of acts has {act[:100]!r}, which is no act of the ledger"
        for act, order in held.items()
        if act not in due and not (act.isdecimal() and int(act) == order <= archived_to)
    ]
    found += [
        f"entry {act} is out of its order in the index of acts"
        for act in due & held.keys()
        if held[act] != int(act)
    ]
    return sorted(found)


def _other_counts(replay: Replay, snapshot: Snapshot, compared: "_Compared | None") -> list[str]:
    """Return texts about indexes with a wrong count of members.

    So an audit of a part also notices members that were added in another part. Only a higher count
    of wins, acts or slips is wrong: archiving removes wins and acts. Any other missing
    member is found when its part is audited.
    """
    part = snapshot.part
    if part is None or compared is None:
        return []
    books, evidence, counts = replay.books, replay.evidence, snapshot.counts
    found = []
    waiting = len(books.waiting)
    if counts.waiting != waiting:
        found.append(f"{counts.waiting} claims wait in Redis's list, the ledger says {waiting}")
    wins = compared.counts.wins + sum(
        len(place.members)
        for place in evidence.in_order[_place_of_claim(evidence, part.new_after) :]
        if place.claim in evidence.claims
    )
    if counts.wins > wins:
        found.append(f"the index of wins has {counts.wins} members, the ledger says {wins}")
    acts = compared.counts.acts + len(evidence.acts) - bisect_right(evidence.acts, part.new_after)
    if counts.acts > acts:
        found.append(f"the index of acts has {counts.acts} members, the ledger says {acts}")
    if counts.slips > (slips := _slips_due(replay, compared)):
        found.append(f"{counts.slips} payout slips are in Redis, the ledger says {slips}")
    return found


def _slips_due(replay: Replay, compared: "_Compared") -> int:
    return compared.counts.slips + len(replay.evidence.slips) - compared.slips


def _order_of(member: str) -> int:
    """Return a win's place from its index member.

    If the member was altered, return a number above all places.
    """
    digits = member.replace("!", ":", 1).split(":")[1:2]
    return int(digits[0]) if digits and digits[0].isdecimal() else 2**63


def _did(noted: str) -> str:
    """Say in words that a payout slip paid a claim, or that a restore keeps its number."""
    claim, _, entry = noted.partition(":")
    return (
        f"is kept for claim {claim} by the restore of entry {entry}"
        if entry
        else f"paid claim {claim}"
    )


def _other_slips(replay: Replay, snapshot: Snapshot) -> list[str]:
    slips, opened, held = replay.evidence.slips, replay.evidence.opened, snapshot.slips
    found = {_slip_differs(slip, held.get(slip), claim) for slip, claim in slips.items()} - {""}
    found |= {
        f"slip {slip!r} pays claim {claim} in Redis, and not in the ledger"
        for slip, claim in held.items()
        if slip not in slips and (claim in opened or replay.begins_after == 0)
    }
    return sorted(found)


def _slip_differs(slip: str, held: str | None, claim: str) -> str:
    if held == claim:
        return ""
    stored = f"pays claim {held}" if held else "is free"
    return f"slip {slip!r} {stored} in Redis, the ledger says it {_did(claim)}"
