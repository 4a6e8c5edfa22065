"""Comparison of claims, payout slips and the indexes of wins and acts with a link's ledger.

An act is a ledger entry about a decision of a person, or one that the service itself writes.
"""

from collections.abc import Iterable, Mapping, Sequence
from itertools import islice
from typing import Final

import msgspec
import structlog

from meters.books.claim_evidence import (
    CLAIM_ACTS,
    DECIDED,
    LedgerDecision,
    claim_differences,
    decided_claim,
    fields_of,
)
from meters.books.ledger_replay import PROBLEMS_MAX, Replay
from meters.books.link_state import Snapshot
from meters.books.slip_numbers import claim_of, fold_slip
from meters.books.store import LinkStore

log = structlog.get_logger()

_AT_ONCE: Final = 100
"""Count of claims that one call reads. Such a call delays Redis by less than a millisecond."""
_Later = tuple[LedgerDecision, str, int, Mapping[str, bytes]]
"""A decision on a claim, the person who made it, and the number and fields of its ledger entry."""


class ClaimAudit:
    """The comparison of a link's claims with the link's ledger.

    An audit compares all undecided claims. It compares all finally decided claims, or only some of
    them. In the second case, the next audit continues with the next claims.

    Attributes:
        doubles: texts about payout slips that paid two claims, at least one of them of this link.
            An earlier release allowed this.
    """

    def __init__(self, store: LinkStore) -> None:
        self._store = store
        self._turn = 0
        self._slips_turn = 0
        self.doubles: tuple[str, ...] = ()

    async def problems(
        self,
        replay: Replay,
        snapshot: Snapshot,
        at_most: int | None = None,
        *,
        reserves: bool = False,
    ) -> list[str]:
        """Return the differences between the claims and the ledger, as texts.

        Args:
            replay: the replay of the ledger up to the last entry of `snapshot`.
            snapshot: the data of the link in Redis at one moment, with the indexes.
            at_most: the greatest count of finally decided claims to check in this audit. The same
                limit applies to payout slips. None to check all.
            reserves: True to reserve the numbers of payout slips that paid a claim, but that are
                not reserved for any claim.

        Raises:
            RedisError: Redis failed.
        """
        archived_to = max([replay.begins_after, *(one.last for one in replay.archived)])
        found = [
            *_other_waiting(replay, snapshot),
            *_other_wins(replay, snapshot, archived_to),
            *_other_acts(replay, snapshot, archived_to),
            *_other_slips(replay, snapshot),
            *await self._other_reservations(replay, snapshot, at_most, reserves=reserves),
        ]
        due = iter(self._due(replay, at_most))
        while (some := list(islice(due, _AT_ONCE))) and len(found) < PROBLEMS_MAX:
            found += await self._compare(replay, some, archived_to)
        return found[:PROBLEMS_MAX]

    def _due(self, replay: Replay, at_most: int | None) -> Iterable[str]:
        """Return the claims to check now: all undecided ones and at most `at_most` decided ones."""
        claims, ended = replay.books.waiting, replay.evidence.ended
        past = [claim for claim in replay.evidence.claims if claim in ended]
        if at_most is None or len(past) <= at_most:
            return [*claims, *past]
        begin = self._turn % len(past)
        self._turn = begin + at_most
        return [*claims, *(past + past)[begin : begin + at_most]]

    async def _other_reservations(
        self, replay: Replay, snapshot: Snapshot, at_most: int | None, *, reserves: bool
    ) -> list[str]:
        """Return the differences between reserved slip numbers and the link's ledger, as texts."""
        register, found = self._store.slip_register, list[str]()
        paid = [*_paid(replay, snapshot).items()]
        if at_most is not None and len(paid) > at_most:
            begin = self._slips_turn % len(paid)
            self._slips_turn = begin + at_most
            looked_at = (paid + paid)[begin : begin + at_most]
        else:
            looked_at = paid
        held = await register.held([slip for slip, _ in looked_at])
        for slip, claim in looked_at:
            other = held.get(fold_slip(slip))
            if other is None and reserves:
                other = await register.reserve(slip, claim)
                log.warning("slip reserved again", link=self._store.link.id, slip=slip, claim=claim)
            elif other is None:
                found.append(f"slip {slip!r} is not reserved, the ledger says it {_did(claim)}")
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

    async def _unknown_reservations(self, replay: Replay) -> list[str]:
        """Report slip numbers that are reserved for a claim that this link does not have."""
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

    async def _compare(self, replay: Replay, ids: Sequence[str], archived_to: int) -> list[str]:
        evidence, books = replay.evidence, replay.books
        entries, rows = await self._store.claims_at(ids)
        later = await self._decided_since(replay.entries, entries)
        found = []
        for claim, held in zip(ids, rows, strict=True):
            if not held and evidence.ended.get(claim, archived_to + 1) <= archived_to:
                # An archived claim is allowed to be missing in Redis.
                evidence.claims.pop(claim, None)
                del evidence.ended[claim]
                continue
            held_win, held_envy = books.claims.get(claim), books.envy.get(claim)
            due = evidence.claims.get(claim) or fields_of(held_win, held_envy)
            for decided, by, number, entry in later.get(claim, ()):
                due = decided_claim(due, decided, by, number, entry)
            found += claim_differences(claim, due, held, evidence.assets_of(claim))
        return found

    async def _decided_since(self, after: int, last: int) -> dict[str, list[_Later]]:
        """Return, by claim, the acts on claims in the ledger entries after `after` up to `last`."""
        found: dict[str, list[_Later]] = {}
        while after < last and (page := await self._store.entries(after, min(250, last - after))):
            for number, fields in page:
                after = max(number, after + 1)
                if fields.get("kind") in CLAIM_ACTS:
                    decided, by = DECIDED.decode(fields["event"]), fields["by"].decode()
                    found.setdefault(decided.claim, []).append((decided, by, number, fields))
        return found


def _other_waiting(replay: Replay, snapshot: Snapshot) -> list[str]:
    """Return the differences between the undecided claims in Redis and in the ledger, as texts.

    The list of these claims is compared, and each meter's count of pending percentage wins.
    """
    claims, waiting = replay.books.waiting, snapshot.waiting
    found = [f"claim {one} waits, and is not in Redis's list" for one in claims - waiting.keys()]
    found += [
        f"claim {one} is in Redis's list of those that wait, the ledger says it does not"
        for one in waiting.keys() - claims
    ]
    for claim in claims & waiting.keys():
        due = replay.evidence.claims.get(claim, {}).get("entry")
        if due is not None and int(due) != waiting[claim]:
            found.append(f"claim {claim}: its order in the list is {waiting[claim]}, not {due}")
    for meter in replay.books.terms:
        due_count = sum(
            held.percent and held.state == "pending" and held.meter == meter
            for held in replay.books.claims.values()
        )
        count = int(snapshot.meters.get(f"pending:{meter}", "0"))
        if count != due_count:
            found.append(f"meter {meter} has {count} pending claims, the ledger says {due_count}")
    return sorted(found)


def _other_wins(replay: Replay, snapshot: Snapshot, archived_to: int) -> list[str]:
    """Return the differences between the index of past wins and the ledger, as texts."""
    due: dict[str, str] = {}
    optional: set[str] = set()
    for claim, fields in replay.evidence.claims.items():
        record = msgspec.json.decode(fields["record"], type=_Indexed)
        place = f"{int(fields['entry']):016d}:{claim}"
        members = [f"{record.meter}:{place}"]
        if record.percent is not None:
            members.append(f"{record.meter}!{place}")
        due |= dict.fromkeys(members, claim)
        if replay.evidence.ended.get(claim, archived_to + 1) <= archived_to:
            optional.update(members)
    found = [
        f"claim {due[member]} is not in the index of wins"
        for member in due.keys() - snapshot.wins - optional
    ]
    found += [
        f"the index of wins has {member[:100]!r}, which the ledger does not have"
        for member in snapshot.wins - due.keys()
        if _order_of(member) > replay.begins_after
        and member.rpartition(":")[2] not in replay.evidence.begun_before
    ]
    if snapshot.misplaced:
        found.append(f"{snapshot.misplaced} wins are out of their order in the index")
    return sorted(found)


def _other_acts(replay: Replay, snapshot: Snapshot, archived_to: int) -> list[str]:
    """Return the differences between the index of acts and the ledger, as texts.

    The acts page reads this index. An archived act is allowed to be missing in this index, so
    archived acts are not checked. Acts that were replayed from an archive file are also not
    checked.
    """
    acts, archived_to = replay.evidence.acts, max(archived_to, replay.evidence.acts_after)
    acts[:] = [act for act in acts if act > archived_to]
    due, held = {str(act) for act in acts}, snapshot.acts
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


class _Indexed(msgspec.Struct, frozen=True):
    """The fields of a claim's record from which the index of wins is made."""

    meter: str
    percent: int | None


def _order_of(member: str) -> int:
    """Return the place of a win, read from the text (`member`) that the index of wins has for it.

    The place is the number of a ledger entry. If somebody altered the text so that it has no place,
    return a number above all places.
    """
    digits = member.replace("!", ":", 1).split(":")[1:2]
    return int(digits[0]) if digits and digits[0].isdecimal() else 2**63


def _did(noted: str) -> str:
    """Return a text that says how a payout slip was used, for a message about a problem.

    The slip paid a claim, or a restore keeps the slip's number for a claim.
    """
    claim, _, entry = noted.partition(":")
    return (
        f"is kept for claim {claim} by the restore of entry {entry}"
        if entry
        else f"paid claim {claim}"
    )


def _paid(replay: Replay, snapshot: Snapshot) -> dict[str, str]:
    """Return the claim of each payout slip, by the number of the slip.

    The slip paid this claim, or a restore keeps the slip's number for this claim.

    The replay does not know slips that were used before its first entry. Such slips are read from
    Redis.
    """
    evidence = replay.evidence
    before = {
        slip: claim
        for slip, claim in snapshot.slips.items()
        if replay.begins_after and claim not in evidence.opened
    }
    return before | evidence.slips


def _other_slips(replay: Replay, snapshot: Snapshot) -> list[str]:
    """Return the differences between payout slips in Redis and in the ledger, as texts."""
    evidence, found = replay.evidence, []
    for slip, claim in evidence.slips.items():
        held = snapshot.slips.get(slip)
        if held != claim:
            stored = f"pays claim {held}" if held else "is free"
            found.append(f"slip {slip!r} {stored} in Redis, the ledger says it {_did(claim)}")
    for slip, claim in snapshot.slips.items():
        known = claim in evidence.opened or replay.begins_after == 0
        if slip not in evidence.slips and known:
            found.append(f"slip {slip!r} pays claim {claim} in Redis, and not in the ledger")
    return sorted(found)
