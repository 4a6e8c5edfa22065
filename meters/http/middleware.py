"""The front of a web server: by which names it is known, and what every answer carries."""

import ipaddress
import re
import socket
import ssl
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

import msgspec
from litestar.types import ASGIApp, Message, Receive, Scope, Send

from bonus.errors import UserError
from meters.floor.facility import Service
from meters.floor.key_bundle import read_secret
from meters.http.headers import secure
from meters.http.metrics_access import MetricsAccess

_ZONE: Final = re.compile(r"[A-Za-z0-9_.-]{1,15}")
"""The interface of a link-local address, as Linux names them."""

_BAD_FORWARDED_FOR: Final = (
    "X-Forwarded-For does not end with an IP address: the proxy must set it to the address that"
    " it was asked from"
)
_HOST: Final = re.compile(r"(?P<name>\[[0-9a-f:.]+\]|[^\[\]:]+)(?::(?P<port>[0-9]{1,5}))?")


@dataclass(frozen=True, slots=True)
class ServerSettings:
    """How a server is reached, as the floor file says.

    Attributes:
        hosts: names of the machine or of a proxy before it, beside those that go without saying.
        certificate: the PEM file of the certificate and its chain, or None for plain HTTP.
        private_key: the PEM file of its key.
        metrics_token: what Prometheus has to show; None where it asks from this machine.
    """

    hosts: tuple[str, ...] = ()
    certificate: str | None = None
    private_key: str | None = None
    metrics_token: str | None = field(default=None, repr=False)

    @classmethod
    def of(cls, service: Service) -> "ServerSettings":
        """The front that the floor file describes, for the service and for panels.

        Raises:
            UserError: the file with the token of `/metrics` cannot be read.
        """
        token = None
        if service.metrics_token is not None:
            token = read_secret(Path(service.metrics_token))
        return cls(service.hosts, service.certificate, service.private_key, token)

    @property
    def scheme(self) -> str:
        """How its addresses begin."""
        return "https" if self.certificate else "http"

    def tls(self) -> ssl.SSLContext | None:
        """The TLS settings, or None for plain HTTP (duty D20).

        Raises:
            UserError: the certificate or its key cannot be used.
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
    raise ValueError("the key has a password, and nobody is there to type it")


class HostNames:
    """The names by which a server may be asked for.

    A page elsewhere can have its own name point to our address (DNS rebinding), and its scripts
    then ask us as if they were ours. They still say the name that they came by. So addresses are
    always ours, and of names only those that somebody here has given.

    Args:
        listening: the address listened on.
        port: its TCP port.
        hosts: further names; whoever gives one may have a proxy there, with a port of its own.
        any_port: whether the port that is asked for may be another.
    """

    def __init__(
        self, listening: str, port: int, hosts: Sequence[str] = (), *, any_port: bool = True
    ) -> None:
        self._names = {"localhost", listening.lower(), socket.gethostname().lower()}
        self._given = {host.lower() for host in hosts}
        self._port = None if any_port else port

    def include(self, host: str) -> bool:
        """Whether a Host header names us.

        >>> HostNames("127.0.0.1", 8080).include("evil.example:8080")
        False
        """
        found = _HOST.fullmatch(host.lower())
        if found is None:
            return False
        name = found["name"].removesuffix(".")
        if name in self._given:
            return True
        if self._port is not None and self._port not in _ports(found["port"]):
            return False
        return name in self._names or _is_address(name.removeprefix("[").removesuffix("]"))


def _ports(header: str | None) -> tuple[int, ...]:
    """Which ports a Host header can mean: without one it is that of HTTP or of HTTPS."""
    return (int(header),) if header else (80, 443)


def _is_address(text: str) -> bool:
    try:
        ipaddress.ip_address(text)
    except ValueError:
        return False
    return True


class ServerMiddleware:
    """An application behind its front: asked for by its own names, every answer with its headers.

    It stands before everything else, so that no error of the framework goes without.
    """

    def __init__(self, app: ASGIApp, names: HostNames, metrics: MetricsAccess) -> None:
        self._app = app
        self._names = names
        self._metrics = metrics

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request."""

        async def send_secured(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = list(message.get("headers", ()))
                secure(headers, https=scope["scheme"] == "https")
                message["headers"] = headers
            await send(message)

        address = _address_of(scope)
        if address is None:
            await _refuse(400, "bad_forwarded_for", _BAD_FORWARDED_FOR, send_secured)
            return
        scope["client"] = address
        host = dict(scope["headers"]).get(b"host", b"").decode("latin-1")
        if not self._names.include(host):
            await _misdirected(host, send_secured)
        elif refusal := self._metrics.refusal(scope):
            await _refuse(*refusal, send_secured)
        else:
            await self._app(scope, receive, send_secured)


async def _misdirected(host: str, send: Send) -> None:
    """Say that this is not where that name should lead, and how it would become one of ours."""
    named = f"the name {host[:253]!r}" if host else "no name"
    message = (
        f"this server is not known by {named}: if it should be, add it to hosts under [service] "
        "in the floor file"
    )
    await _refuse(421, "misdirected_request", message, send)


async def _refuse(status: int, code: str, message: str, send: Send) -> None:
    body = msgspec.json.encode({"error": {"code": code, "message": message}})
    headers = [(b"content-type", b"application/json"), (b"content-length", b"%d" % len(body))]
    await send({"type": "http.response.start", "status": status, "headers": headers})
    await send({"type": "http.response.body", "body": body, "more_body": False})


def _address_of(scope: Scope) -> tuple[str, int] | None:
    """Who asks, by an address in its usual spelling; None where a proxy says what is none.

    The server has put in place of the proxy's address what the proxy says of who asked. It is what
    logs, locks and limits go by, so nothing but an address will do.
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
