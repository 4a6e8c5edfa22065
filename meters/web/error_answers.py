"""Error answers of the API: ``{"error": {"code", "message"}}``, never a traceback."""

import http
from collections.abc import Collection, Mapping
from datetime import UTC, datetime, timedelta
from typing import Final

import msgspec
import structlog
from litestar import MediaType, Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException
from litestar.openapi.datastructures import ResponseSpec
from litestar.types import ExceptionHandlersMap

from bonus.printable import escape_unprintable
from bonus.rounds import RoundError
from meters.acts.act_refusals import ActError
from meters.http.settle_page import RoundProblem, problems_of
from meters.http.strict_requests import WebRequest
from meters.users.sessions import SignedIn
from meters.users.user_store import UsersError
from meters.web.display_state import TooManyWatchersError

StaffRequest = Request[SignedIn, object, State]
"""A request of a signed-in user who has the right for the route."""

_CODES: Final[Mapping[int, Collection[str]]] = {
    400: ("bad_value", "bad_name", "bad_pin"),
    401: ("wrong_name_or_pin", "pin_expired", "session_ended", "sign_in", "pin_needed"),
    403: (
        "wrong_pin", "not_allowed", "choose_pin", "https_needed", "foreign_origin", "csrf",
    ),
    409: (
        "wrong_state", "same_person", "not_closed", "rounds_open", "no_change", "meter_short",
        "meter_full", "stale", "below_seed", "limit_too_low", "above_limit", "barred", "slip_used",
        "books_differ", "books_full", "envy_decided", "two_people", "no_request", "day_closed",
        "slip_changed", "not_approved", "name_taken", "yourself", "last_administrator",
    ),
    415: ("not_json",),
    429: ("locked_out", "slowed"),
    503: (
        "busy", "store_failed", "other_schema", "other_keys", "link_inoperable", "archive_failed",
        "report_failed",
    ),
}  # fmt: skip
"""The codes of refusals by HTTP status. 404 is for ``unknown_...``, and 422 for all other codes."""

_STATUS_OF: Final = {code: status for status, codes in _CODES.items() for code in codes}
_MEANINGS: Final[Mapping[int, str]] = {
    400: "The request is not valid.",
    401: "Nobody has signed in, the name or PIN is wrong or has expired, or the user must enter"
    " their PIN again.",
    403: "The role does not allow the request, the request is not from a page of pitlink or not"
    " over HTTPS, the PIN is wrong, or the user must first choose a PIN.",
    404: "What the request names does not exist.",
    409: "The present state does not allow the request, or another person must make it.",
    413: "The request is too long.",
    415: "The request is not JSON.",
    429: "Sign-in is locked or slowed for a time, or too many event streams are open.",
    503: "Redis, the archive or the link cannot be used now, or too many users sign in, read"
    " reports or open displays.",
}
_log = structlog.get_logger(__name__)


class ErrorText(msgspec.Struct, frozen=True, omit_defaults=True):
    """The text of an error.

    Attributes:
        code: the reason for programs.
        message: the reason for people.
        until: the end of the wait in UTC, if the code is ``locked_out`` or ``slowed``.
        field: the wrong field of a round, such as ``positions[2].cards``.
        all: all errors that were found in a round, this one first.
    """

    code: str
    message: str
    until: str | None = None
    field: str | None = None
    all: tuple[RoundProblem, ...] = ()


class ErrorBody(msgspec.Struct, frozen=True):
    """The answer to a request that is refused.

    Attributes:
        error: what is wrong.
    """

    error: ErrorText


def refusals(*statuses: int) -> dict[int, ResponseSpec]:
    return {status: answer(ErrorBody, _meaning(status)) for status in statuses}


def answer(kind: type[msgspec.Struct] | None, description: str) -> ResponseSpec:
    # Without this option, the framework would make examples of random letters.
    return ResponseSpec(kind, generate_examples=False, description=description)


def _meaning(status: int) -> str:
    codes = ", ".join(f"`{code}`" for code in _CODES.get(status, ()))
    return f"{_MEANINGS[status]} Codes: {codes}." if codes else _MEANINGS[status]


def error_response(
    status: int, error: ErrorText, headers: Mapping[str, str] | None = None
) -> Response[ErrorBody]:
    """Return an error. The message is escaped, because it can repeat text of the request."""
    shown = msgspec.structs.replace(error, message=escape_unprintable(error.message))
    return Response(
        ErrorBody(shown), status_code=status, media_type=MediaType.JSON, headers=headers
    )


def reasons_of(error: HTTPException) -> list[str]:
    """Return what is wrong with each value of a request; nothing if the error does not say it."""
    wrong = error.extra if isinstance(error.extra, list) else []
    found = [str(each.get("message", "")) for each in wrong if isinstance(each, dict)]
    return [reason for reason in found if reason]


def on_http_error(_: WebRequest, error: HTTPException) -> Response[ErrorBody]:
    code = http.HTTPStatus(error.status_code).name.lower()
    message = "; ".join([error.detail, *reasons_of(error)])
    return error_response(error.status_code, ErrorText(code, message), error.headers)


def _on_refusal(_: WebRequest, error: ActError) -> Response[ErrorBody]:
    return error_response(_status_of(error.code), ErrorText(error.code, error.message))


def _on_round_error(_: WebRequest, error: RoundError) -> Response[ErrorBody]:
    found = tuple(
        msgspec.structs.replace(each, message=escape_unprintable(each.message))
        for each in problems_of(error)
    )
    text = ErrorText(error.code, error.message, field=error.field, all=found)
    return error_response(400, text)


def _on_users_error(_: WebRequest, error: UsersError) -> Response[ErrorBody]:
    if error.code == "store_failed":
        _log.warning("people not read", reason=str(error.__cause__))
    headers = None
    until = None
    if error.wait_ms is not None:
        headers = {"Retry-After": str(-(-error.wait_ms // 1000))}
        ends = datetime.now(UTC) + timedelta(milliseconds=error.wait_ms)
        until = ends.isoformat(timespec="seconds").removesuffix("+00:00") + "Z"
    text = ErrorText(error.code, error.message, until)
    return error_response(_status_of(error.code), text, headers)


def _status_of(code: str) -> int:
    return 404 if code.startswith("unknown_") else _STATUS_OF.get(code, 422)


def _on_displays_full(_: WebRequest, error: TooManyWatchersError) -> Response[ErrorBody]:
    if not error.of_one:
        error_text = ErrorText("too_many_streams", "too many displays are connected")
        return error_response(503, error_text)
    message = (
        "too many event streams are open from this address, or by this person: a proxy must set "
        "X-Forwarded-For, so that each display counts for itself"
    )
    return error_response(429, ErrorText("too_many_streams", message))


def _on_deep_nesting(_: WebRequest, __: RecursionError) -> Response[ErrorBody]:
    return error_response(400, ErrorText("bad_request", "the request is nested too deeply"))


def _on_defect(request: WebRequest, error: Exception) -> Response[ErrorBody]:
    _log.error("request failed", path=request.url.path, exc_info=error)
    return error_response(
        500, ErrorText("internal_error", "the service could not answer this request")
    )


ERROR_ANSWERS: Final[ExceptionHandlersMap] = {
    HTTPException: on_http_error,
    RoundError: _on_round_error,
    UsersError: _on_users_error,
    ActError: _on_refusal,
    TooManyWatchersError: _on_displays_full,
    RecursionError: _on_deep_nesting,
    Exception: _on_defect,
}
