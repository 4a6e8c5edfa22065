"""The state of a link, rebuilt from acts in its ledger: closed or open, proposals, approvals."""

from collections.abc import Collection, Mapping
from datetime import date, datetime, timedelta
from typing import Final, NamedTuple

import msgspec

from meters.books.accounts import meter_account
from meters.books.approvals import Approval
from meters.books.approved_configuration import approved_terms
from meters.books.checkpoint import ARCHIVED, Archived
from meters.books.dealt_cards import dealt_field, ring_field
from meters.books.expected_transfers import Transfer
from meters.books.outage_entries import OUTAGE
from meters.books.restore_entries import RESTORING
from meters.books.slip_numbers import kept_for
from meters.floor.facility import GamingDays
from meters.links.act_rows import SwitchRecord
from meters.redis_client.link_keys import LinkKeys
from meters.restore.store_snapshot import StoreSnapshot


class _Proposed(msgspec.Struct, frozen=True):
    proposal: str
    kind: str = ""


class _Changed(msgspec.Struct, frozen=True):
    meter: str


_TRANSFERS: Final = msgspec.json.Decoder(tuple[Transfer, ...])
_SWITCHED: Final = msgspec.json.Decoder(SwitchRecord)
_APPROVAL: Final = msgspec.json.Decoder(Approval)
_PROPOSED: Final = msgspec.json.Decoder(_Proposed)
_CHANGED: Final = msgspec.json.Decoder(_Changed)
_UNCHANGED: Final = frozenset({b"seed", b"archive", b"reading", b"expire"})
"""The kinds of acts that change nothing on the floor page."""


class NotedDay(NamedTuple):
    """The number of the ledger entry that records an archived gaming day, and its event."""

    entry: int
    archived: Archived


class LinkSnapshot:
    """The state of the link in its rebuilt data, except its tables and claims.

    `noted` are the ledger entries that record archived gaming days, by the last entry of the day.
    """

    def __init__(self, keys: LinkKeys, snapshot: StoreSnapshot, days: GamingDays) -> None:
        self.noted: dict[int, NotedDay] = {}
        self._keys = keys
        self._snapshot = snapshot
        self._days = days
        self._filed: Mapping[str, str] = {}
        if approved := snapshot.at(keys.approved):
            self._filed = approved_terms(approved["text"].decode())

    def apply_act(
        self, kind: bytes, number: int, fields: Mapping[str, bytes], meters: Collection[str]
    ) -> Collection[str]:
        """Apply the entry of an act on the link: an act of a person or of the service itself.

        `meters` are those that the ledger seeded, including this entry. Return the meters that the
        act publishes.

        Raises:
            ValueError, KeyError: the entry cannot be read.
        """
        if kind not in _UNCHANGED:
            self.ring()
        image, keys, event = self._snapshot, self._keys, fields["event"]
        match kind:
            case b"seed":
                meter = seeded(fields["transfers"])
                image.put(keys.meters, {f"file:{meter}": self._filed.get(meter, event.decode())})
                return (meter,)
            case b"close" | b"open":
                self._switch(fields)
                return meters
            case b"propose" | b"withdraw" | b"adjust" | b"parameter":
                return self._apply_proposal(kind, number, fields)
            case b"approve" | b"approve_first":
                self._approve(kind, number, fields, meters)
            case b"inoperable":
                image.put(keys.meters, {"outage": OUTAGE.decode(event).id})
            case b"restore":
                restored = RESTORING.decode(event)
                for meter in meters:
                    image.add(keys.meters, f"version:{meter}", restored.versions_raised)
                kept = {slip: kept_for(claim, number) for slip, claim in restored.kept.items()}
                image.put(keys.slips, kept)
                return meters
            case b"archive":
                archived = ARCHIVED.decode(event)
                self.noted[archived.last] = NotedDay(number, archived)
                image.put(keys.meters, {"archived": archived.last, "archived_at": fields["at"]})
        return ()

    def ring(self, changes: int = 1) -> None:
        """Count changes for the floor page."""
        self._snapshot.add(self._keys.meters, "desk", changes)

    def note_dealt(self, digest: str, table: str, number: int) -> None:
        """Store the digest of the dealt cards of a round, as the Lua script `apply_events` does."""
        key = self._keys.dealt
        if not digest or dealt_field(digest) in self._snapshot.at(key):
            return
        if before := self._snapshot.text(key, ring_field(number)):
            self._snapshot.drop(key, dealt_field(before))
        self._snapshot.put(
            key, {dealt_field(digest): f"{table} {number}", ring_field(number): digest}
        )

    def open_day(self, number: int, at: bytes, closed: str) -> None:
        """Open the gaming day that the service would open after a ledger entry.

        Call this only for the reading that closes a gaming day, and for entries before the first
        such reading. `closed` is the last closed gaming day; empty before the first reading. `at`
        is the time of the entry, in UTC.
        """
        image, meters = self._snapshot, self._keys.meters
        day = self._days.of(datetime.fromisoformat(at.decode()))
        if closed:
            image.put(meters, {"day_closed": closed, "reading": number, "reading_at": at})
            day = max(day, date.fromisoformat(closed) + timedelta(days=1))
        image.put(meters, {"day": day.isoformat()})

    def _switch(self, fields: Mapping[str, bytes]) -> None:
        image, meters = self._snapshot, self._keys.meters
        if fields["kind"] == b"close":
            image.put(meters, {"closed": _SWITCHED.decode(fields["event"]).reason})
            image.put(meters, {"closed_by": fields["by"], "closed_at": fields["at"]})
        else:
            image.drop(meters, "closed", "closed_by", "closed_at")

    def _apply_proposal(
        self, kind: bytes, number: int, fields: Mapping[str, bytes]
    ) -> Collection[str]:
        image, event = self._snapshot, fields["event"]
        proposed = _PROPOSED.decode(event)
        key = self._keys.proposal(proposed.proposal)
        if kind == b"propose":
            image.put(key, {"record": event, "kind": proposed.kind, "state": "open"})
            image.put(key, {"by": fields["by"], "at": fields["at"]})
            image.put(self._keys.proposals, {proposed.proposal: number})
            return ()
        image.put(key, {"state": "withdrawn" if kind == b"withdraw" else "confirmed"})
        image.put(key, {"decided_by": fields["by"], "decided_at": fields["at"]})
        image.drop(self._keys.proposals, proposed.proposal)
        return () if kind == b"withdraw" else (_CHANGED.decode(event).meter,)

    def _approve(
        self, kind: bytes, number: int, fields: Mapping[str, bytes], meters: Collection[str]
    ) -> None:
        image, keys = self._snapshot, self._keys
        if kind == b"approve_first":
            image.put(keys.approved, {"first": number})
            return
        approval = _APPROVAL.decode(fields["event"])
        image.put(keys.approved, {"digest": approval.digest, "text": approval.text})
        image.put(keys.approved, {"by": fields["by"], "at": fields["at"], "entry": number})
        image.drop(keys.approved, "first")
        self._filed = approved_terms(approval.text)
        image.put(
            keys.meters,
            {f"file:{meter}": text for meter, text in self._filed.items() if meter in meters},
        )


def seeded(transfers: bytes) -> str:
    """Return the meter that got its first seed, from the transfers of the ledger entry."""
    (moved,) = _TRANSFERS.decode(transfers)
    return moved.target.removeprefix(meter_account(""))
