"""Who may see and touch a panel: who has its key, from the panel's own page (duty D20)."""

import hmac
import os
import secrets
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Final

from litestar import MediaType, Request, Response
from litestar.datastructures import State

from bonus.errors import UserError

WebRequest = Request[object, object, State]

_A_YEAR_S: Final = 31_536_000
_WHAT_TO_DO: Final = (
    "This panel opens with the address that its agent prints at its start, "
    "http://HOST:PORT/?key=... Ask whoever looks after the tables for it.\n"
)


def panel_key(path: Path) -> str:
    """The key of a table's panel, kept for the next start; for its owner's eyes alone.

    Raises:
        UserError: it cannot be kept, or what is kept is none.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            key = path.read_text().strip()
        else:
            key = secrets.token_urlsafe(32)
            with os.fdopen(descriptor, "w") as file:
                file.write(key + "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the panel's key {path} cannot be kept: {error}") from None
    if not key:
        raise UserError(f"the panel's key {path} is empty: remove the file for a new one")
    return key


class Access:
    """The lock on a panel.

    Args:
        key: the panel's key.
        table: the table; cookies of one host's panels differ by it, since ports do not part them.

    Raises:
        ValueError: the key is empty, which would let everybody in.
    """

    def __init__(self, key: str, table: str) -> None:
        if not key:
            raise ValueError("the panel's key is empty")
        self._key = key.encode()
        self._cookie = f"pitlink-panel-{table}"

    def refuse(self, request: WebRequest) -> Response[str] | None:
        """The answer to a request that is not let in, or None."""
        path = request.url.path
        if (
            path == "/metrics"
            or path.startswith("/assets/")
            or (path == "/" and "key" in request.query_params)
        ):
            return None
        if not self.opens(self._shown(request)):
            return _refused(401, _WHAT_TO_DO)
        if request.method not in {"GET", "HEAD"} and not _from_our_page(request):
            return _refused(403, "Only the panel's own page may do this.\n")
        return None

    def opens(self, key: str) -> bool:
        """Whether a key is the panel's, in a time that does not tell how much of it is right."""
        return hmac.compare_digest(key.encode(), self._key)

    def let_in(self, key: str, *, https: bool) -> Response[str]:
        """The answer to the address with a key: its cookie, and on to the page without it."""
        if not self.opens(key):
            return _refused(401, _WHAT_TO_DO)
        cookie = SimpleCookie({self._cookie: key})[self._cookie]
        cookie.update({"path": "/", "max-age": str(_A_YEAR_S), "samesite": "Strict"})
        cookie["httponly"] = True
        # Without TLS the page itself comes in the clear, and so must its cookie.
        cookie["secure"] = https
        headers = {"Location": "/", "Set-Cookie": cookie.OutputString()}
        return Response("", status_code=303, media_type=MediaType.TEXT, headers=headers)

    def _shown(self, request: WebRequest) -> str:
        try:
            jar = SimpleCookie(request.headers.get("cookie", ""))
        except CookieError:
            return ""
        return jar[self._cookie].value if self._cookie in jar else ""


def _from_our_page(request: WebRequest) -> bool:
    """Whether the browser says that our own page asks, with a body that no form can send."""
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        return False
    site = request.headers.get("sec-fetch-site")
    origin = request.headers.get("origin")
    if site is not None and site != "same-origin":
        return False
    if origin is not None:
        return origin.partition("://")[2].lower() == request.headers.get("host", "").lower()
    return site is not None


def _refused(status: int, reason: str) -> Response[str]:
    return Response(reason, status_code=status, media_type=MediaType.TEXT)
