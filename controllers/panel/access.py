"""Who may use a table's panel: key, sessions, and the origin of requests (duty D20)."""

import hmac
import os
import secrets
import time
from collections import deque
from http.cookies import CookieError, SimpleCookie
from pathlib import Path
from typing import Final

from litestar import MediaType, Response

from bonus.errors import UserError
from meters.floor.floor_file import Floor
from meters.http.strict_requests import WebRequest
from meters.process.private_files import make_private_directory

SESSION_S: Final = 30 * 86_400

WRONG_MOST: Final = 10
"""Wrong keys, or wrong cookies, that one address may show within a minute."""

_WRONG_WITHIN_S: Final = 60.0
_ADDRESSES_MOST: Final = 1_000
_SET_BACK_S: Final = 60
_WHAT_TO_DO: Final = (
    "This tablet has no access to the panel. Open the address that the table's agent prints at its "
    "start, http://HOST:PORT/?key=... If the machine or the key of the table was replaced, an "
    "earlier address is no longer valid. A tablet has access for 30 days after it has opened the "
    "address. Ask a technician for the address.\n"
)
_TOO_MANY: Final = "Too many wrong keys or cookies from this address: try again in a minute.\n"


def panel_key_path(floor: Floor, table_id: str) -> Path:
    return Path(floor.service.data) / "tables" / f"{table_id}.panel-key"


def panel_key(path: Path) -> str:
    """Return the key of a table's panel, from a file that only its owner can read.

    If the file does not exist, make it with a new key.

    Raises:
        UserError: the key file cannot be read or written, or the file is empty.
    """
    try:
        make_private_directory(path.parent)
        try:
            descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            key = path.read_text().strip()
        else:
            key = secrets.token_urlsafe(32)
            with os.fdopen(descriptor, "w") as file:
                file.write(key + "\n")
    except (OSError, UnicodeDecodeError) as error:
        raise UserError(f"the panel's key {path} cannot be read or written: {error}") from None
    if not key:
        raise UserError(f"the panel's key {path} is empty: remove the file, and a new key is made")
    return key


def replace_panel_key(path: Path) -> None:
    """Replace the key of a panel.

    A running agent uses the old key until it is restarted. Then the sessions of the old key end.

    Raises:
        UserError: the file cannot be replaced, or does not exist: no agent would read a new file
            there, and the old key would stay valid.
    """
    try:
        path.unlink()
    except FileNotFoundError:
        raise UserError(
            f"there is no panel key {path}, so nothing was renewed. Use the floor file of the"
            " table's agent. If systemd runs the agent, its files are in /var/lib/pitlink-table:"
            f" stop the agent, remove /var/lib/pitlink-table/tables/{path.name}, and start the"
            " agent. The agent then makes a new key."
        ) from None
    except OSError as error:
        raise UserError(f"the panel's key {path} cannot be replaced: {error}") from None
    panel_key(path)


class WrongShown:
    def __init__(self) -> None:
        self._shown: dict[str, deque[float]] = {}

    def too_many(self, address: str) -> bool:
        shown = self._shown.get(address)
        if shown is None or len(shown) < WRONG_MOST:
            return False
        return shown[0] > time.monotonic() - _WRONG_WITHIN_S

    def note(self, address: str) -> None:
        if address not in self._shown and len(self._shown) >= _ADDRESSES_MOST:
            del self._shown[next(iter(self._shown))]
        self._shown.setdefault(address, deque(maxlen=WRONG_MOST)).append(time.monotonic())


class PanelAccess:
    """Decides which browsers may open a table's panel.

    A browser that shows the right key receives a session in a cookie: a start time and a digest
    made with the key. So the session survives a restart of the agent, unless the key has been
    replaced.

    Browsers send a cookie to all ports of a host, and one host can serve several panels. So the
    cookie's name contains the table.

    Raises:
        ValueError: the key is empty, so everybody would have access.
    """

    def __init__(self, key: str, table: str) -> None:
        if not key:
            raise ValueError("the panel's key is empty")
        self._key = key.encode()
        self._table = table
        self._cookie = f"pitlink-panel-{table}"
        self._wrong_keys, self._wrong_cookies = WrongShown(), WrongShown()

    def refuse(self, request: WebRequest) -> Response[str] | None:
        path = request.url.path
        if (
            path == "/metrics"
            or path.startswith("/assets/")
            or (path == "/" and "key" in request.query_params)
        ):
            return None
        session = self.session_of(request)
        if not self.holds(session):
            address = _address(request)
            if self._wrong_cookies.too_many(address):
                return _refused(429, _TOO_MANY)
            if session and not self._is_ours(session):
                self._wrong_cookies.note(address)
            return _refused(401, _WHAT_TO_DO)
        if request.method not in {"GET", "HEAD"} and not _from_our_page(request):
            return _refused(403, "Only the panel's own page may do this.\n")
        return None

    def begin_session(self, at_s: float | None = None) -> str:
        """Return a session that begins now, or at `at_s` (seconds since 1970)."""
        began = str(int(time.time() if at_s is None else at_s))
        nonce = secrets.token_urlsafe(12)
        return f"{began}.{nonce}.{self._digest(began, nonce)}"

    def holds(self, session: str) -> bool:
        if not self._is_ours(session):
            return False
        age_s = time.time() - int(session.partition(".")[0])
        return -_SET_BACK_S <= age_s < SESSION_S

    def _is_ours(self, session: str) -> bool:
        began, nonce, digest = (*session.split("."), "", "", "")[:3]
        right = self._digest(began, nonce)
        return session.count(".") == 2 and hmac.compare_digest(digest.encode(), right.encode())

    def _digest(self, began: str, nonce: str) -> str:
        text = f"session\n{self._table}\n{began}\n{nonce}"
        return hmac.new(self._key, text.encode(), "sha256").hexdigest()

    def let_in(self, request: WebRequest, key: str) -> Response[str]:
        """Answer a request with a key in its URL. The right key gives a session and the page."""
        address = _address(request)
        if self._wrong_keys.too_many(address):
            return _refused(429, _TOO_MANY)
        if not hmac.compare_digest(key.encode(), self._key):
            self._wrong_keys.note(address)
            return _refused(401, _WHAT_TO_DO)
        cookie = SimpleCookie({self._cookie: self.begin_session()})[self._cookie]
        cookie.update({"path": "/", "max-age": str(SESSION_S), "samesite": "Strict"})
        cookie["httponly"] = True
        # Without TLS, a browser would not send a secure cookie.
        cookie["secure"] = request.url.scheme == "https"
        headers = {"Location": "/", "Set-Cookie": cookie.OutputString()}
        return Response("", status_code=303, media_type=MediaType.TEXT, headers=headers)

    def session_of(self, request: WebRequest) -> str:
        try:
            jar = SimpleCookie(request.headers.get("cookie", ""))
        except CookieError:
            return ""
        return jar[self._cookie].value if self._cookie in jar else ""


def _address(request: WebRequest) -> str:
    return request.client.host if request.client else ""


def _from_our_page(request: WebRequest) -> bool:
    """Return whether a request is from the panel's page: forms of other sites send no JSON."""
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
