"""Did enough people approve a floor file? The audit's answer, from the ledger alone (duty D4)."""

from collections.abc import Mapping
from typing import Final

from meters.books.approvals import APPROVAL, Approval, HalfApproval, tables_left
from meters.books.approved_configuration import LinkConfiguration
from meters.books.checkpoint import NotedApproval
from meters.books.money_terms import TermsText, terms_as_text
from meters.books.two_people import is_person

UNKNOWN: Final = HalfApproval("", "", "", ())
"""The first approval, if its entry can be before the first entry of the replay."""


def approval_fault(
    noted: NotedApproval,
    before: NotedApproval | None,
    half: HalfApproval | None,
    terms: Mapping[str, TermsText],
) -> str | None:
    """Return what is wrong with an approval, or None.

    One person suffices for the first file of an empty floor, and for parameters that two people
    have changed by proposal before. A program approves only what no person has approved. `before`
    is the approval before it, `half` the first of two approvals that waits.

    Raises:
        msgspec.DecodeError: an approval cannot be read.
    """
    by, approval = noted.by, APPROVAL.decode(noted.event)
    approved = APPROVAL.decode(before.event) if before else None
    if approval.left != tables_left(approved, approval.names) or (
        approved and approval.order < approved.order
    ):
        return f"the approval by {by} does not continue the tables and the order of the one before"
    if approval.first_by:
        return _fault_of_two(by, approval, half)
    of_empty_floor = noted.entry == 1 and bool(approval.floor)
    of_program = not is_person(by) and (before is None or not is_person(before.by))
    if of_empty_floor or of_program or (approved and _is_confirmed(approval, approved, terms)):
        return None
    return f"{by} alone approved a floor file that takes two people"


def _fault_of_two(by: str, approval: Approval, half: HalfApproval | None) -> str | None:
    if half is UNKNOWN:
        return None
    if half is None or (half.by, half.digest) != (approval.first_by, approval.digest):
        return f"{by} approved as the second person what {approval.first_by} had not approved"
    if {by, *approval.pin_set_by} & {half.by, *half.pin_set_by}:
        return f"{half.by} and {by}, who approved, can be one person"
    return None


def _is_confirmed(approval: Approval, before: Approval, terms: Mapping[str, TermsText]) -> bool:
    """Check if only parameters differ from the approval before, and are those in force.

    Such an approval is no later than the one before: it takes no table from another link.
    """
    in_force = {meter: terms_as_text(each) for meter, each in terms.items()}
    filed, approved = LinkConfiguration(approval.text), LinkConfiguration(before.text)
    return approval.order == before.order and filed.only_follows(approved, in_force)
