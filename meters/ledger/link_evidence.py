"""The state of a link according to its ledger: closed or open, approvals and proposals.

A display ignores values with an old version number. Each call of a Lua script adds one to the
version number of each meter that the call affects. So the ledger shows the lowest version number
that each meter can have. All entries of one call have the same time, so they count once.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import Final, Self

from meters.ledger.accounts import Moved
from meters.ledger.approved_configuration import approved_terms
from meters.ledger.entry_messages import (
    ARCHIVED,
    CHANGED,
    DECIDED,
    OUTAGE,
    PROMOTION_ADDED,
    RESTORING,
    SWITCHED,
    WITHDRAWN,
    PromotionAdded,
)
from meters.ledger.floor_approvals import APPROVAL
from meters.ledger.table_corrections import OF_TABLES

_CLOSED: Final = ("closed", "closed_by", "closed_at")
_NOT_YET: Final = (*_CLOSED, "outage", "archived", "archived_at", "reading", "reading_at")
"""The fields that the link's Redis hash of meters does not have before an entry sets them."""
_TOUCHING_ALL: Final = frozenset({b"close", b"open", b"restore"})


@dataclass(frozen=True, slots=True)
class PromotionState:
    """What the hash of meters has about a promotion: the words of one text.

    `day` is the day of the last start, which is all for a promotion that adds a sum. If it adds a
    part of each wager, `meter` is the meter, `from_cents` are the wagers on the meter before the
    count of the wagers began, and `added_cents` is what was added since then. `at` is the time of
    its last entry, and `approval` the entry of the floor file's approval at that time.
    """

    day: str = ""
    meter: str = ""
    from_cents: int = 0
    added_cents: int = 0
    at: str = ""
    approval: str = ""

    @classmethod
    def of(cls, text: str | None) -> Self:
        day, *rest = (text or "").split(" ")
        if not rest:
            return cls(day)
        meter, from_cents, added_cents, at, approval = rest
        return cls(day, meter, int(from_cents), int(added_cents), at, approval)

    def can_go_on(self, added: PromotionAdded, approval: str) -> bool:
        """Check if the count of the wagers can go on: same day, meter and approval."""
        now = (added.day.isoformat(), added.meter, approval)
        return now == (self.day, self.meter, self.approval)


@dataclass
class LinkEvidence:
    """The state of a link according to the replayed ledger entries, without money and tables.

    `standing` are the fields that the link's Redis hash of meters must have because of the entries.
    A field with the value None must not exist. `approved` are the fields of the last approved
    configuration, and the entry of a first approval that waits for the second. `open` has for each
    undecided proposal the number of its entry. `versions` are the lowest version numbers that the
    meters can have; `versions_raised` is the sum by which restores raised every version number.
    `filed` has the terms of each seeded meter: those in the last approved floor file with this
    meter, or else those in the ledger entry `seed`. A service stores the terms of a floor file when
    it opens the link with this file. `touched_at` is the time of the last script call that affected
    a meter, and `percents` has the meter of each win of a percentage that nobody has decided; it
    lacks the wins that were reopened.
    """

    standing: dict[str, str | None] = field(default_factory=lambda: dict.fromkeys(_NOT_YET))
    approved: dict[str, str] = field(default_factory=dict)
    proposals: dict[str, dict[str, str]] = field(default_factory=dict)
    open: dict[str, int] = field(default_factory=dict)
    versions: dict[str, int] = field(default_factory=dict)
    versions_raised: int = 0
    restored: bool = False
    filed: dict[str, str] = field(default_factory=dict)
    touched_at: dict[str, str] = field(default_factory=dict)
    percents: dict[str, str] = field(default_factory=dict)

    def add_entry(self, number: int, fields: Mapping[str, bytes], moved: Moved) -> None:
        """Add the data of a replayed ledger entry, whose transfers are `moved`.

        Raises:
            ValueError, msgspec.DecodeError: the entry cannot be read.
        """
        kind, at = fields["kind"], fields["at"].decode()
        touched = self._raise_versions(kind, at, fields["event"], moved)
        if kind in OF_TABLES:
            return
        event, by = fields["event"], fields["by"].decode()
        match kind:
            case b"seed":
                text = self.approved.get("text")
                approved = approved_terms(text) if text else {}
                self.filed |= {meter: approved.get(meter, event.decode()) for meter in touched}
            case b"approve_first":
                self.approved["first"] = str(number)
            case b"approve":
                approval = APPROVAL.decode(event)
                self.approved = {
                    "digest": approval.digest, "text": approval.text, "by": by,
                    "entry": str(number), "at": at,
                }  # fmt: skip
                terms = approved_terms(approval.text)
                self.filed |= {meter: terms[meter] for meter in terms.keys() & self.filed}
            case b"propose" | b"withdraw" | b"adjust" | b"parameter":
                self._add_proposal(kind, number, by, fields)
            case b"promotion":
                added = PROMOTION_ADDED.decode(event)
                state = added.day.isoformat()
                if added.count:
                    state += f" {added.meter} {added.wagered_before} {added.added} {at}"
                    state += f" {self.approved.get('entry', '')}"
                self.standing[promotion_field(added.promotion)] = state
            case b"restore":
                self.restored = True
                self.versions_raised += RESTORING.decode(event).versions_raised
            case _:
                self.standing |= _changed_fields(kind, number, by, fields)

    def promotion_state(self, promotion: str) -> PromotionState:
        return PromotionState.of(self.standing.get(promotion_field(promotion)))

    def _add_proposal(self, kind: bytes, number: int, by: str, fields: Mapping[str, bytes]) -> None:
        event, at = fields["event"], fields["at"].decode()
        if kind == b"propose":
            made = CHANGED.decode(event)
            self.open[made.proposal] = number
            self.proposals[made.proposal] = {
                "record": event.decode(), "kind": made.kind, "by": by, "at": at, "state": "open",
            }  # fmt: skip
            return
        withdrawn = kind == b"withdraw"
        proposal = (WITHDRAWN if withdrawn else CHANGED).decode(event).proposal
        self.open.pop(proposal, None)
        state = "withdrawn" if withdrawn else "confirmed"
        decided = {"state": state, "decided_by": by, "decided_at": at}
        self.proposals[proposal] = self.proposals.get(proposal, {}) | decided

    def _raise_versions(self, kind: bytes, at: str, event: bytes, moved: Moved) -> Set[str]:
        """Raise the lowest version of each meter that an entry affects, and return these meters.

        An entry can affect a meter without a transfer.
        """
        touched = moved.meters
        match kind:
            case b"parameter":
                touched |= {CHANGED.decode(event).meter}
            case b"validate" | b"reject":
                touched |= {self.percents.pop(DECIDED.decode(event).claim, "")} - {""}
            case _ if kind in _TOUCHING_ALL:
                touched |= self.filed.keys()
        # A reopened win can also get money from another meter, to which its rejection moved it.
        if moved.percents and kind != b"reopen":
            self.percents.update(moved.percents)
        for meter in touched:
            if self.touched_at.get(meter) != at:
                self.touched_at[meter] = at
                self.versions[meter] = self.versions.get(meter, 0) + 1
        return touched


def promotion_field(promotion: str) -> str:
    """Return the field of the hash of meters with the state of a promotion (`PromotionState`)."""
    return f"promotion:{promotion}"


def _changed_fields(
    kind: bytes, number: int, by: str, fields: Mapping[str, bytes]
) -> Mapping[str, str | None]:
    event, at = fields["event"], fields["at"].decode()
    match kind:
        case b"close":
            return dict(zip(_CLOSED, (SWITCHED.decode(event).reason, by, at), strict=True))
        case b"open":
            return dict.fromkeys(_CLOSED)
        case b"inoperable":
            return {"outage": OUTAGE.decode(event).id}
        case b"archive":
            return {"archived": str(ARCHIVED.decode(event).last), "archived_at": at}
        case b"reading":
            return {"reading": str(number), "reading_at": at}
    return {}
