"""Errors as the API tells them: ``{"error": {"code", "message"}}``, never a traceback."""

import http
from collections.abc import Mapping
from typing import Final

import msgspec
import structlog
from litestar import MediaType, Request, Response
from litestar.datastructures import State
from litestar.exceptions import HTTPException

from meters.board import BoardFullError
from meters.web.doors import ClaimError

WebRequest = Request[object, object, State]

_CLAIM_STATUS: Final[Mapping[str, int]] = {"unknown_claim": 404, "wrong_state": 409}
_log = structlog.get_logger(__name__)


class ErrorText(msgspec.Struct, frozen=True):
    """A code for programs and a plain message."""

    code: str
    message: str


class ErrorBody(msgspec.Struct, frozen=True):
    """What every error of the API looks like."""

    error: ErrorText


def error_response(
    status: int, code: str, message: str, headers: Mapping[str, str] | None = None
) -> Response[ErrorBody]:
    """An error as the API tells it."""
    return Response(
        ErrorBody(ErrorText(code, message)),
        status_code=status,
        media_type=MediaType.JSON,
        headers=headers,
    )


def on_http_error(_: WebRequest, error: HTTPException) -> Response[ErrorBody]:
    """Tell a refusal of the framework, or of a guard, by its status."""
    code = http.HTTPStatus(error.status_code).name.lower()
    message = error.detail
    if isinstance(error.extra, list):
        reasons = [str(each.get("message", "")) for each in error.extra if isinstance(each, dict)]
        message = "; ".join([message, *filter(None, reasons)])
    return error_response(error.status_code, code, message, error.headers)


def on_claim_error(_: WebRequest, error: ClaimError) -> Response[ErrorBody]:
    """Tell why a decision was not taken."""
    return error_response(_CLAIM_STATUS.get(error.code, 422), error.code, error.message)


def on_full_board(_: WebRequest, __: BoardFullError) -> Response[ErrorBody]:
    """Turn away one display too many."""
    return error_response(503, "too_many_streams", "too many displays are connected")


def on_defect(request: WebRequest, error: Exception) -> Response[ErrorBody]:
    """Log a defect in full, and tell nothing of it."""
    _log.error("request_failed", path=request.url.path, exc_info=error)
    return error_response(500, "internal_error", "the service could not answer this request")
