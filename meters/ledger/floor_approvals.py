"""Approvals of floor files in the ledger, and whether enough people approved (duty D4)."""

from collections.abc import Collection, Mapping
from typing import Final

import msgspec

from meters.ledger.approved_configuration import APPROVED_FLOOR, ApprovedFloor, LinkConfiguration
from meters.ledger.money_terms import TermsText, terms_as_text
from meters.ledger.two_people import is_person


class Approval(msgspec.Struct, frozen=True, omit_defaults=True):
    """An approval of a floor file.

    Attributes:
        digest: the digest of `text`.
        text: the whole approved part of the floor file, as JSON, so the ledger shows under which
            configuration each wager was accepted.
        changed: each difference from the configuration that was approved before, in words.
        first_by: the first of two people; empty if one person sufficed.
        floor: the digest of the whole floor file, if this link was approved with the first file of
            an empty floor.
        pin_set_by: the people who set the PIN of `by` in the 24 hours before the approval.
        order: the place of this approval among all approvals of the facility: a later approval has
            a larger number. If one person approves changes that two people have confirmed, the
            number stays the same.
        left: the tables that the link had before, by id and by asset number. The value is the order
            of the link's last approval that had the table.
    """

    digest: str
    text: str
    by: str
    changed: tuple[str, ...]
    first_by: str = ""
    floor: str = ""
    pin_set_by: tuple[str, ...] = ()
    order: int = 0
    left: dict[str, int] = {}

    @property
    def names(self) -> tuple[str, ...]:
        """The names of the tables; empty if the text cannot be read."""
        try:
            return table_names(APPROVED_FLOOR.decode(self.text).assets)
        except msgspec.DecodeError:
            return ()

    @property
    def had(self) -> dict[str, int]:
        """Every table that the link ever had, with the order of the last approval that names it."""
        return {**self.left, **dict.fromkeys(self.names, self.order)}


class HalfApproval(msgspec.Struct, frozen=True, omit_defaults=True):
    """The approval of the first of two people.

    Attributes:
        digest: the digest of the approved part of the floor file.
        replaces: the digest of the approved part that this approval would replace.
        changed: each difference between these two parts, in words.
        pin_set_by: the people who set the PIN of `by` in the 24 hours before the approval.
        after: the order of the last approval, of any link, that had one of the link's tables.
    """

    digest: str
    replaces: str
    by: str
    changed: tuple[str, ...]
    pin_set_by: tuple[str, ...] = ()
    after: int = 0


class NotedApproval(msgspec.Struct, frozen=True, forbid_unknown_fields=True):
    """The last approval of a floor file, as a ledger entry records it (duty D12).

    `entry` is the number of that entry. `number` counts the approvals of the link: the first is 1.
    `event` is the text of the approval in the ledger.
    """

    entry: int
    number: int
    by: str
    event: str


def approved_floor(event: bytes | str) -> ApprovedFloor:
    """Return what an approval's ledger entry says about the floor.

    Raises:
        msgspec.DecodeError: the event is not an approval, or its text is not a configuration.
    """
    return APPROVED_FLOOR.decode(APPROVAL.decode(event).text)


APPROVAL: Final = msgspec.json.Decoder(Approval)
HALF: Final = msgspec.json.Decoder(HalfApproval)


def approval_fault(
    noted: NotedApproval,
    before: NotedApproval | None,
    half: HalfApproval | None,
    terms: Mapping[str, TermsText],
) -> str | None:
    """Return what is wrong with an approval, or None.

    One person suffices for the first file of an empty floor, and for parameters that two people
    have already changed by proposal. A program suffices if no person made the previous approval.
    `before` is the previous approval. `half` is the first of two approvals, while it waits for the
    second.

    Raises:
        msgspec.DecodeError: an approval cannot be read.
    """
    by, approval = noted.by, APPROVAL.decode(noted.event)
    approved = APPROVAL.decode(before.event) if before else None
    if approval.left != tables_left(approved, approval.names) or (
        approved and approval.order < approved.order
    ):
        return f"the approval by {by} does not continue the tables and order of the last approval"
    if approval.first_by:
        return _fault_of_two(by, approval, half)
    of_empty_floor = noted.entry == 1 and bool(approval.floor)
    of_program = not is_person(by) and (before is None or not is_person(before.by))
    if of_empty_floor or of_program or (approved and _is_confirmed(approval, approved, terms)):
        return None
    return f"{by} alone approved a floor file that two people must approve"


def _fault_of_two(by: str, approval: Approval, half: HalfApproval | None) -> str | None:
    if half is None or (half.by, half.digest) != (approval.first_by, approval.digest):
        return f"{by} approved as the second person what {approval.first_by} had not approved"
    if {by, *approval.pin_set_by} & {half.by, *half.pin_set_by}:
        return f"{half.by} and {by}, who both approved, can be the same person"
    return None


def _is_confirmed(approval: Approval, before: Approval, terms: Mapping[str, TermsText]) -> bool:
    """Check if the only differences from the previous approval are parameters now in force.

    The order must be the same in both approvals. So the new approval takes no table from another
    link.
    """
    in_force = {meter: terms_as_text(each) for meter, each in terms.items()}
    filed, approved = LinkConfiguration(approval.text), LinkConfiguration(before.text)
    return approval.order == before.order and filed.only_follows(approved, in_force)


def table_names(tables: Mapping[str, str]) -> tuple[str, ...]:
    """Return the names of tables, by id and by asset number. `tables` has asset numbers by id."""
    return tuple(
        name for table, asset in tables.items() for name in (f"table {table}", f"asset {asset}")
    )


def tables_left(before: Approval | None, names: Collection[str]) -> dict[str, int]:
    """Return the tables that a link had before, without its present tables `names`."""
    had = before.had if before else {}
    return {name: order for name, order in had.items() if name not in names}
