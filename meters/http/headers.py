import base64
import hashlib
from collections.abc import MutableSequence
from importlib.resources import files
from typing import Final

GUARD: Final = files("meters.http").joinpath("guard.js").read_text(encoding="utf-8")
"""The only script that is part of pages. Every other script is a file of the server."""

_GUARD_DIGEST: Final = base64.b64encode(hashlib.sha256(GUARD.encode()).digest()).decode()
_NOTHING_FOREIGN: Final = (
    f"default-src 'none'; script-src 'self' 'sha256-{_GUARD_DIGEST}'; style-src 'self'; "
    "img-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'"
)
_HEADERS: Final = {
    "Content-Security-Policy": _NOTHING_FOREIGN,
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
}
SECURITY_HEADERS: Final = tuple(
    (name.lower().encode(), value.encode()) for name, value in _HEADERS.items()
)
NOT_KEPT: Final = (b"cache-control", b"no-store")
_OVER_HTTPS_FOR_A_YEAR: Final = (b"strict-transport-security", b"max-age=31536000")

RawHeaders = MutableSequence[tuple[bytes, bytes]]


def secure(headers: RawHeaders, *, https: bool) -> None:
    """Add the security headers to an answer, and `no-store` if it has no `Cache-Control`.

    With `https`, one header makes the browser use HTTPS for this server from now on, even if a
    person types an address without ``https://``. Otherwise it would first send such a request
    without encryption, and anybody on the network path could answer it.
    """
    headers.extend(SECURITY_HEADERS)
    if https:
        headers.append(_OVER_HTTPS_FOR_A_YEAR)
    if not any(name.lower() == NOT_KEPT[0] for name, _ in headers):
        headers.append(NOT_KEPT)
