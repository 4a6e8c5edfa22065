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
"""Headers by which a request shows that it comes through a proxy."""

_LOCAL_ONLY: Final = (
    "without a token, only programs on this machine may read metrics, and without a proxy: to read"
    " them from elsewhere, set metrics_token under [service] in the floor file"
)
_UNAUTHORIZED: Final = (
    "metrics need `Authorization: Bearer TOKEN`, with the token from the file that metrics_token"
    " under [service] in the floor file names"
)

Refusal = tuple[int, str, str]


@dataclass(frozen=True, slots=True)
class MetricsAccess:
    """The check of who is allowed to read `/metrics`, which shows reserves.

    If the floor file names a token, every client must send it. If not, only programs on this
    machine are allowed. A proxy on this machine that adds no header looks like any other program,
    so its clients can read the metrics, unless a token is required.
    """

    token: str | None = field(default=None, repr=False)

    def refusal(self, scope: Scope) -> Refusal | None:
        """Return a refusal for `/metrics`; `scope` has the client's address in its usual form."""
        # The path is split as the web framework's router splits it. So other spellings of the path
        # are also refused.
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
