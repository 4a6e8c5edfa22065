"""Middleware of a web server: checks of host names and addresses, and headers of answers."""

import base64
import hashlib
import hmac
import ipaddress
import re
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, cast

import msgspec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from bonus.errors import UserError
from meters.floor.facility import Service
from meters.floor.key_bundle import read_secret
from meters.http.page_files import GUARD

_GUARD_DIGEST: Final = base64.b64encode(hashlib.sha256(GUARD.encode()).digest())
_POLICY: Final = (
    b"default-src 'none'; script-src 'self' 'sha256-%s'; style-src 'self'; img-src 'self'; "
    b"font-src 'self'; media-src 'self'; connect-src 'self'; base-uri 'none'; "
    b"form-action 'none'; " % _GUARD_DIGEST
)
_POLICY_HEADER: Final = b"content-security-policy"
_FRAME_HEADER: Final = b"x-frame-options"
SECURITY_HEADERS: Final = (
    (_POLICY_HEADER, _POLICY + b"frame-ancestors 'none'"),
    (b"x-content-type-options", b"nosniff"),
    (_FRAME_HEADER, b"DENY"),
    (b"referrer-policy", b"no-referrer"),
    (b"cross-origin-opener-policy", b"same-origin"),
    (b"cross-origin-resource-policy", b"same-origin"),
)


def framed_by(origins: Sequence[str]) -> dict[str, str]:
    """Return the headers of a page that pages of these origins can show in a frame."""
    allowed = " ".join(("'self'", *origins))
    policy = f"{_POLICY.decode()}frame-src 'self'; frame-ancestors {allowed}"
    return {"Content-Security-Policy": policy}


NOT_KEPT: Final = (b"cache-control", b"no-store")
_OVER_HTTPS_FOR_A_YEAR: Final = (b"strict-transport-security", b"max-age=31536000")
"""With this header, browsers use HTTPS even if a person types an address without ``https://``.
Otherwise anybody on the network path could answer the first request.
"""

_METRICS_PATH: Final = ["metrics"]
_FORWARDED: Final = frozenset({
    b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-port",
    b"x-forwarded-proto", b"x-forwarded-server", b"x-real-ip",
})  # fmt: skip

_LOCAL_ONLY: Final = (
    "without a token, only programs on this machine may read metrics, and not through a proxy: to"
    " read them from elsewhere, set metrics_token under [service] in the floor file"
)
_UNAUTHORIZED: Final = (
    "metrics need the header `Authorization: Bearer TOKEN`: replace TOKEN with the content of the"
    " file at metrics_token under [service] in the floor file"
)

_ZONE: Final = re.compile(r"[A-Za-z0-9_.-]{1,15}")
"""Name of a network interface in a link-local IPv6 address, as Linux writes it."""

_BAD_FORWARDED_FOR: Final = (
    "X-Forwarded-For does not end with an IP address: the proxy must set it to the address of"
    " its client"
)
_STREAMING: Final = re.compile(r"/api/|.*/preview/")
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\[\]:]+)(?::(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """Names, certificate and metrics token of a server, from the floor file.

    `hosts` are further names of the machine, or of a proxy in front of it. The certificate (with
    its chain) and its key are PEM files; without them, the server uses plain HTTP. Without a
    metrics token, Prometheus must run on this machine.
    """

    hosts: tuple[str, ...] = ()
    certificate: str | None = None
    private_key: str | None = None
    metrics_token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, service: Service) -> "ServerSettings":
        """Return the settings, or raise a `UserError` if the metrics token cannot be read."""
        token = None
        if service.metrics_token is not None:
            token = read_secret(Path(service.metrics_token))
        return cls(service.hosts, service.certificate, service.private_key, token)

    @property
    def scheme(self) -> str:
        return "https" if self.certificate else "http"

    def tls(self) -> ssl.SSLContext | None:
        """Return the TLS settings; None for plain HTTP (duty D20).

        Raises:
            UserError: the certificate or its key is wrong, or cannot be read.
        """
        if self.certificate is None:
            return None
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.minimum_version = ssl.TLSVersion.TLSv1_2
        try:
            context.load_cert_chain(self.certificate, self.private_key, password=_no_password)
        except (OSError, ValueError) as error:
            reason = error.strerror if isinstance(error, OSError) and error.strerror else error
            raise UserError(
                f"the certificate {self.certificate} with the key {self.private_key} cannot be "
                f"used: {reason}"
            ) from None
        return context


def _no_password() -> bytes:
    raise ValueError("the key has a password: use a key without one")


class HostNames:
    """The host names that a server accepts in the Host header of a request.

    A foreign site can let its own name point to the server's address (DNS rebinding), so that the
    site's scripts seem to belong to the server's pages. But the Host header of such a request has
    the foreign name. So the name must be a name of this server, an IP address, or in `hosts`. If
    `any_port` is false, the port must be this server's; with a name in `hosts`, any port is
    accepted.
    """

    def __init__(
        self, listening: str, port: int, hosts: Sequence[str] = (), *, any_port: bool = True
    ) -> None:
        self._names = {"localhost", listening.lower(), socket.gethostname().lower()}
        self._given = {host.lower() for host in hosts}
        self._port = None if any_port else port

    def include(self, host: str) -> bool:
        """Return whether a Host header names this server.

        >>> HostNames("127.0.0.1", 8080).include("evil.example:8080")
        False
        """
        found = _HOST.fullmatch(host.lower())
        if found is None:
            return False
        name = found["name"].removesuffix(".")
        if name in self._given:
            return True
        # Without a port, the header means 80 or 443.
        ports = (int(found["port"]),) if found["port"] else (80, 443)
        if self._port is not None and self._port not in ports:
            return False
        return name in self._names or _is_address(name.removeprefix("[").removesuffix("]"))


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


def _metrics_refusal(scope: Scope, token: str | None) -> tuple[int, str, str] | None:
    """Return why `/metrics`, which shows reserves, is refused to a client; None if it is not.

    A proxy on this machine that adds no header looks like a program on this machine.
    """
    # The path is split as in the web framework's router, so other spellings of the path are also
    # refused.
    if [part for part in scope["path"].split("/") if part] != _METRICS_PATH:
        return None
    headers = [(name.lower(), value) for name, value in scope["headers"]]
    if token is not None:
        shown = [value for name, value in headers if name == b"authorization"]
        if len(shown) == 1 and hmac.compare_digest(shown[0], b"Bearer " + token.encode()):
            return None
        return 401, "token_needed", _UNAUTHORIZED
    host, _ = scope.get("client") or ("", 0)
    if is_loopback(host) and not _FORWARDED.intersection(name for name, _ in headers):
        return None
    return 403, "local_only", _LOCAL_ONLY


def is_loopback(host: str) -> bool:
    """Return whether a text is a loopback address, even if it is an IPv4 address in IPv6 form."""
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback


class ServerMiddleware:
    """Checks of the Host header, the client's address and `/metrics` before the web application.

    The middleware adds headers to every answer, even to the framework's errors. A HEAD request for
    a page or a file is handled as GET, and uvicorn leaves out the body. Routes of the API and
    previews refuse HEAD, because some of them are endless streams.
    """

    def __init__(self, app: ASGIApp, names: HostNames, metrics_token: str | None = None) -> None:
        self._app = app
        self._names = names
        self._metrics_token = metrics_token

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                own = {name.lower() for name, _ in headers}
                if _POLICY_HEADER in own:  # the policy says who can show the page in a frame
                    own.add(_FRAME_HEADER)
                headers += [header for header in SECURITY_HEADERS if header[0] not in own]
                if scope["scheme"] == "https":
                    headers.append(_OVER_HTTPS_FOR_A_YEAR)
                if NOT_KEPT[0] not in own:
                    headers.append(NOT_KEPT)
                message["headers"] = headers
            await send(message)

        address = _address_of(scope)
        if address is None:
            await _refuse(400, "bad_forwarded_for", _BAD_FORWARDED_FOR, send_secured)
            return
        scope["client"] = address
        if scope.get("method") == "HEAD" and not _STREAMING.match(scope["path"]):
            # uvicorn has its own scope with the method HEAD, so it sends no body.
            scope = cast("Scope", {**scope, "method": "GET"})
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        if not self._names.include(host):
            named = f"to the name {host[:253]!r}" if host else "without a name in the header Host"
            message = (
                f"this server does not answer {named}: each name to which it should answer must be"
                " in hosts under [service] in the floor file"
            )
            await _refuse(421, "misdirected_request", message, send_secured)
        elif refusal := _metrics_refusal(scope, self._metrics_token):
            await _refuse(*refusal, send_secured)
        else:
            await self._app(scope, receive, send_secured)


async def _refuse(status: int, code: str, message: str, send: Send) -> None:
    body = msgspec.json.encode({"error": {"code": code, "message": message}})
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _address_of(scope: Scope) -> tuple[str, int] | None:
    """Return the client's address, which a proxy can report; None if it is not an IP address.

    Logs, locks and limits depend on this address.
    """
    host, port = scope.get("client") or ("", 0)
    if not host:
        return "", 0
    bare, _, zone = host.partition("%")
    if zone and not _ZONE.fullmatch(zone):
        return None
    try:
        return f"{ipaddress.ip_address(bare)}{'%' if zone else ''}{zone}", port
    except ValueError:
        return None
