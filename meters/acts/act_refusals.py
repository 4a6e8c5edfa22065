"""A link on which users act, and the refusals of these acts, in words for the users."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final, Protocol

import msgspec
from redis.exceptions import RedisError, ResponseError

from meters.ledger.claim_records import ClaimRecord
from meters.ledger.entry_messages import DecisionRecord
from meters.ledger.two_people import why_one_person
from meters.store.link_store import BooksError, LinkStore, TermsError, WrongStateError

_REFUSED: Final = {
    "not_closed": "the link is open: a parameter can be changed only while its link is closed",
    "rounds_open": "an open round must be settled or voided first: {detail}",
    "unknown_proposal": "there is no such proposal",
    "stale": "the meter was won or changed since the proposal: propose the change again",
    "below_seed": "the meter holds less than its seed or reseed for this wager: adjust the meter"
    " first",
    "limit_too_low": "the meter holds more than the new limit: propose a higher limit",
    "above_limit": "the meter would hold more than its limit",
    "meter_short": "the meter holds less than the amount to take off",
    "meter_full": "the meter cannot hold so much",
    "wrong_state": "the proposal is already {detail}",
    "slip_used": "this slip number already belongs to the payment of {detail}. Numbers that differ"
    " only in hyphens, in capital letters or in zeros in front are the same number",
    "envy_decided": "the Envy Bonuses of this win are no longer owed: look at the claim again",
    "books_differ": "the claim's account does not hold its amount: call the technician",
    "books_full": "the ledger's accounts cannot hold more",
    "not_approved": "another floor file was approved a moment ago: try again later",
    "no_request": "the request was replaced, withdrawn or decided, or its gaming day was closed:"
    " look at the claim again",
    "day_closed": "the gaming day of the rejection is closed, and a rejected win can be reopened"
    " only before this day is closed. Call the technician",
    "slip_changed": "the slip number of this win is now {detail}: look at the claim again",
}
_VALIDATED: Final = "validated this win"
_REQUESTED: Final = {
    "reject": ("requested this rejection", "confirm it"),
    "reopen": ("requested to reopen this win", "confirm it"),
}


class RunningLink(Protocol):
    """A link that the service runs. If it has a `problem`, nobody can decide its claims."""

    store: LinkStore

    @property
    def problem(self) -> str | None: ...

    async def keep_mark(self) -> None:
        """Write the ledger mark after an act."""
        ...


class ActError(Exception):
    """The refusal of a user's act. The act has changed nothing. `code` is for programs."""

    def __init__(self, code: str, message: str) -> None:
        super().__init__(message)
        self.code = code
        self.message = message


def refusal(code: str, detail: str = "") -> ActError:
    return ActError(code, _REFUSED[code].format(detail=detail))


@contextmanager
def store_failure_as_inoperable() -> Iterator[None]:
    """In the block, raise an `ActError` ``link_inoperable`` if Redis fails or has wrong data."""
    try:
        yield
    except (RedisError, OSError) as error:
        fails = "refuses a command" if isinstance(error, ResponseError) else "does not answer"
        raise ActError("link_inoperable", f"Redis {fails}: {error}") from None
    except TermsError as error:
        raise ActError("link_inoperable", str(error)) from None
    except (KeyError, msgspec.DecodeError) as error:
        raise ActError("link_inoperable", f"the data in Redis is damaged: {error}") from None


@contextmanager
def refusals(record: ClaimRecord, decision: DecisionRecord) -> Iterator[None]:
    """Raise an `ActError` in words for the user if a Lua script in the `with` block refuses."""
    act = decision.act
    try:
        yield
    except WrongStateError as error:
        raise ActError("wrong_state", _why_not(record, act, error)) from None
    except BooksError as error:
        if error.status == "same_person":
            did, does = _REQUESTED.get(act, (_VALIDATED, "pay it"))
            message = why_one_person(error.detail, decision.by, error.setter, did=did, does=does)
            raise ActError(error.status, message) from None
        raise refusal(error.status, error.detail) from None


def _why_not(record: ClaimRecord, act: str, error: WrongStateError) -> str:
    claim, by = f"claim {record.claim}", f" by {error.by}" if error.by else ""
    words = f"{claim} is already {error.state}{by}"
    if act in {"reopen", "request_reopen"}:
        words = f"{claim} is not rejected: it is {error.state}{by}"
    elif act == "correct_slip":
        words = f"{claim} is not paid with a slip: it is {error.state}{by}"
    elif act == "pay" and not record.is_hand_pay:
        words = f"{claim} is paid at the table: it is not a hand pay"
    elif act == "pay" and error.state == "pending":
        words = f"{claim} has not been validated yet"
    elif act in {"pay_envy", "reject_envy"}:
        words = f"the Envy Bonuses of {claim} are already {error.state or 'paid'}{by}"
        if not record.envy:
            words = f"no Envy Bonus is owed for {claim}"
        elif error.state == "pending":
            words = f"{claim} has not been decided yet: its Envy Bonuses wait for the decision"
    return words
