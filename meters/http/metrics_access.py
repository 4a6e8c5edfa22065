"""Access to `/metrics`, which shows reserves and is for Prometheus alone."""

import hmac
import ipaddress
from dataclasses import dataclass, field
from typing import Final

from litestar.types import Scope

_PATH: Final = ["metrics"]
_FORWARDED: Final = frozenset({
    b"forwarded", b"via", b"x-forwarded-for", b"x-forwarded-host", b"x-forwarded-port",
    b"x-forwarded-proto", b"x-forwarded-server", b"x-real-ip",
})  # fmt: skip
"""What a proxy adds: who asks is then somebody else than the program that connected."""

_LOCAL_ONLY: Final = (
    "figures are for programs of the same machine alone, asked for without a proxy: to read them"
    " from elsewhere, set metrics_token under [service] in the floor file"
)
_UNAUTHORIZED: Final = (
    "figures need `Authorization: Bearer TOKEN`, with the token from the file that metrics_token"
    " under [service] in the floor file names"
)

Refusal = tuple[int, str, str]
"""A status, a code for programs, and a message."""


@dataclass(frozen=True, slots=True)
class MetricsAccess:
    """Who may read the figures: whoever shows the token, or without one this machine.

    A proxy that adds no header looks like a program of this machine. A token stops it too.
    """

    token: str | None = field(default=None, repr=False)

    def refusal(self, scope: Scope) -> Refusal | None:
        """How a request for the figures is refused; None where it is not, or is for another page.

        Args:
            scope: the request, with the address of who asks in its usual spelling.
        """
        # However the path is written, as the router takes it.
        if [part for part in scope["path"].split("/") if part] != _PATH:
            return None
        headers = [(name.lower(), value) for name, value in scope["headers"]]
        if self.token is not None:
            shown = [value for name, value in headers if name == b"authorization"]
            expected = b"Bearer " + self.token.encode()
            if len(shown) == 1 and hmac.compare_digest(shown[0], expected):
                return None
            return 401, "token_needed", _UNAUTHORIZED
        if _is_loopback(scope) and not _FORWARDED.intersection(name for name, _ in headers):
            return None
        return 403, "local_only", _LOCAL_ONLY


def _is_loopback(scope: Scope) -> bool:
    host, _ = scope.get("client") or ("", 0)
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return False
    mapped = address.ipv4_mapped if isinstance(address, ipaddress.IPv6Address) else None
    return (mapped or address).is_loopback
