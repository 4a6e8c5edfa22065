"""The state of a link according to its ledger: closed or open, approvals and proposals.

The ledger also shows the lowest version number that each meter can have, by which a display ignores
old values. Each call of a Lua script adds one to the version number of each meter that it affects.
All entries of one script call have the same time, so they are counted as one call.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Final

import msgspec

from meters.books.entered_cards import OF_TABLES
from meters.books.expected_transfers import transfers_in

_CLOSED: Final = ("closed", "closed_by", "closed_at")
_TOUCHING_ALL: Final = frozenset({b"close", b"open", b"restore"})
_KEPT_BY_METER: Final = frozenset({"meter", "reserve", "overflow"})


class _Switched(msgspec.Struct, frozen=True):
    reason: str = ""


class _Approved(msgspec.Struct, frozen=True):
    digest: str
    text: str


class _Proposed(msgspec.Struct, frozen=True):
    proposal: str
    kind: str = ""
    meter: str = ""


class _Decided(msgspec.Struct, frozen=True):
    claim: str


class _Outage(msgspec.Struct, frozen=True):
    id: str


_SWITCHED: Final = msgspec.json.Decoder(_Switched)
_APPROVED: Final = msgspec.json.Decoder(_Approved)
_PROPOSED: Final = msgspec.json.Decoder(_Proposed)
_DECIDED: Final = msgspec.json.Decoder(_Decided)
_OUTAGE: Final = msgspec.json.Decoder(_Outage)


@dataclass
class LinkEvidence:
    """The state of a link according to the replayed ledger entries, without money and tables.

    `standing` are the fields that the link's Redis hash of meters must have because of the entries;
    None for a field that must not exist. `approved` are the fields of the last approved
    configuration, and the entry of the first of two approvals that waits for the second. `open` has
    for each undecided proposal the number of the entry that made it. `versions` are the lowest
    version numbers that the meters can have.
    """

    standing: dict[str, str | None] = field(default_factory=dict)
    approved: dict[str, str] = field(default_factory=dict)
    proposals: dict[str, dict[str, str]] = field(default_factory=dict)
    open: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    restored: bool = False
    _touched_at: dict[str, bytes] = field(default_factory=dict)
    _seeded: set[str] = field(default_factory=set)
    _percents: dict[str, str] = field(default_factory=dict)

    def add_approval(self, entry: int, by: str, event: bytes | str) -> None:
        """Note the approval of a floor file that a ledger entry records."""
        approved = _APPROVED.decode(event)
        self.approved = {
            "digest": approved.digest, "text": approved.text, "by": by, "entry": str(entry),
        }  # fmt: skip

    def add_entry(self, number: int, fields: Mapping[str, bytes]) -> None:
        """Add the data of a replayed ledger entry.

        Raises:
            ValueError, msgspec.DecodeError: the entry cannot be read.
        """
        kind, at = fields["kind"], fields["at"].decode()
        self._raise_versions(fields)
        if kind in OF_TABLES:
            return
        event, by = fields["event"], fields["by"].decode()
        match kind:
            case b"close":
                closure = (_SWITCHED.decode(event).reason, by, at)
                self.standing |= dict(zip(_CLOSED, closure, strict=True))
            case b"open":
                self.standing |= dict.fromkeys(_CLOSED)
            case b"approve_first":
                self.approved["first"] = str(number)
            case b"approve":
                self.add_approval(number, by, event)
                self.approved["at"] = at
            case b"inoperable":
                self.standing["outage"] = _OUTAGE.decode(event).id
            case b"propose":
                made = _PROPOSED.decode(event)
                self.open[made.proposal] = number
                self.proposals[made.proposal] = {
                    "record": event.decode(), "kind": made.kind, "by": by, "at": at,
                    "state": "open",
                }  # fmt: skip
            case b"withdraw" | b"adjust" | b"parameter":
                proposal = _PROPOSED.decode(event).proposal
                self.open.pop(proposal, None)
                state = "withdrawn" if kind == b"withdraw" else "confirmed"
                decided = {"state": state, "decided_by": by, "decided_at": at}
                self.proposals[proposal] = self.proposals.get(proposal, {}) | decided
            case b"restore":
                self.restored = True

    def _raise_versions(self, fields: Mapping[str, bytes]) -> None:
        """Raise the lowest version of each meter that an entry affects, also without a transfer."""
        kind, (touched, percents) = fields["kind"], _meters_in(fields["transfers"])
        match kind:
            case b"seed":
                self._seeded |= touched
            case b"parameter":
                touched |= {_PROPOSED.decode(fields["event"]).meter}
            case b"validate" | b"reject":
                touched |= {self._percents.pop(_DECIDED.decode(fields["event"]).claim, "")} - {""}
            case _ if kind in _TOUCHING_ALL:
                touched |= self._seeded
        self._percents.update(percents)
        at = fields["at"]
        for meter in touched:
            if self._touched_at.get(meter) != at:
                self._touched_at[meter] = at
                self.versions[meter] = self.versions.get(meter, 0) + 1


@lru_cache(4_096)
def _meters_in(transfers: bytes) -> tuple[frozenset[str], Sequence[tuple[str, str]]]:
    """Return the meters that transfers affect, and each claim to which a meter pays, with it."""
    parts = [(one.source.split(":"), one.target.split(":")) for one in transfers_in(transfers)]
    touched = (name[-1] for part in parts for name in part if name[0] in _KEPT_BY_METER)
    percents = [
        (target[-1], source[-1])
        for source, target in parts
        if (source[0], target[0]) == ("meter", "claim")
    ]
    return frozenset(touched), percents
