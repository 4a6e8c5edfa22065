"""Did enough people approve a floor file? The audit's answer, from the ledger alone (duty D4)."""

from collections.abc import Mapping
from typing import Final

from meters.books.approvals import APPROVAL, Approval, HalfApproval
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
    have changed by proposal before. A program approves only what no person has approved.

    Args:
        noted: the approval.
        before: the approval before it; None if there is none.
        half: the first of two approvals that waits; None if none waits.
        terms: the terms of the meters that are in force.

    Raises:
        msgspec.DecodeError: an approval cannot be read.
    """
    by, approval = noted.by, APPROVAL.decode(noted.event)
    if approval.first_by:
        if half is UNKNOWN:
            return None
        if half is None or (half.by, half.digest) != (approval.first_by, approval.digest):
            return f"{by} approved as the second person what {approval.first_by} had not approved"
        if {by, *approval.pin_set_by} & {half.by, *half.pin_set_by}:
            return f"{half.by} and {by}, who approved, can be one person"
        return None
    of_empty_floor = noted.entry == 1 and bool(approval.floor)
    of_program = not is_person(by) and (before is None or not is_person(before.by))
    if of_empty_floor or of_program or (before and _is_confirmed(approval, before, terms)):
        return None
    return f"{by} alone approved a floor file that takes two people"


def _is_confirmed(
    approval: Approval, before: NotedApproval, terms: Mapping[str, TermsText]
) -> bool:
    """Check if only parameters differ from the approval before, and are those in force.

    Such an approval is no later than the one before: it takes no table from another link.
    """
    in_force = {meter: terms_as_text(each) for meter, each in terms.items()}
    approved = APPROVAL.decode(before.event)
    kept = (approval.order, approval.left) == (approved.order, approved.left)
    return kept and LinkConfiguration(approval.text).only_follows(
        LinkConfiguration(approved.text), in_force
    )
