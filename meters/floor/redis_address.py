"""Address of a Redis with replicas. It names the sentinels, or nodes of the Redis Cluster."""

import re
from dataclasses import dataclass, field
from typing import Final
from urllib.parse import unquote, urlsplit

from bonus.errors import UserError
from meters.floor.broker_address import is_host

REPLICAS_MOST: Final = 9
_PORT_MOST: Final = 65_535
_PORTS: Final = {"sentinel": 26_379, "cluster": 6_379}
_WHOLE: Final = re.compile(
    r"redis(?P<tls>s?)\+(?P<kind>sentinel|cluster)://(?:(?P<access>[^@/?#]*)@)?(?P<hosts>[^@/?#]+)"
    r"(?P<path>/[^?#]*)?(?:\?(?P<options>[^#]*))?"
)
_SERVICE: Final = re.compile(r"/(?P<name>[A-Za-z0-9._-]{1,64})(?:/(?P<database>[0-9]{1,4})?)?")
_OPTIONS: Final = {
    "replicas": re.compile(rf"[1-{REPLICAS_MOST}]"),
    "ssl_ca_certs": re.compile(r".+"),
    "ssl_ca_path": re.compile(r".+"),
    "ssl_certfile": re.compile(r".+"),
    "ssl_keyfile": re.compile(r".+"),
    "ssl_check_hostname": re.compile(r"true|false"),
}
"""Allowed after the question mark of the address. All but the first need TLS."""


@dataclass(frozen=True, slots=True)
class HostPort:
    host: str
    port: int

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ReplicatedAddress:
    """Address of a Redis that has replicas.

    `places` are the sentinels, or some nodes of the cluster, each of which knows the primary.
    `service` is the name by which the sentinels know the Redis. A cluster has no name, and only
    database 0. So many `replicas`, at least 1, must have received a write before the client returns
    its answer. `tls` is for servers and sentinels, and `options` are named as the parameters of the
    Redis client.
    """

    places: tuple[HostPort, ...]
    service: str
    database: int
    tls: bool
    replicas: int
    options: tuple[tuple[str, str], ...] = field(default=())


def is_replicated(url: str) -> bool:
    """Check if a text has the form of an address of a Redis with replicas.

    >>> is_replicated("rediss+cluster://10.0.0.8:7000"), is_replicated("redis://10.0.0.8/0")
    (True, False)
    """
    return re.match(r"rediss?\+", url) is not None


def hosts_of(url: str) -> tuple[str, ...]:
    """Return the hosts in the address of a broker or a Redis, each once.

    >>> hosts_of("redis+cluster://a:7000,b:7000"), hosts_of("mqtt://c"), hosts_of("embedded")
    (('a', 'b'), ('c',), ())
    """
    if is_replicated(url):
        return tuple(dict.fromkeys(place.host for place in parse_replicated(url).places))
    host = urlsplit(url).hostname
    return (host,) if host else ()


def with_one_host(url: str) -> str:
    """Return an address with only the first of its hosts, so that it can be parsed as a URL.

    >>> with_one_host("redis+sentinel://pit:secret@a:26379,b:26379/pitlink")
    'redis+sentinel://pit:secret@a:26379/pitlink'
    """
    whole = _WHOLE.fullmatch(url)
    if whole is None:
        return url
    start, end = whole.span("hosts")
    return url[:start] + whole["hosts"].partition(",")[0] + url[end:]


def without_user(url: str) -> str:
    """Return an address without its user and password.

    >>> without_user("rediss://pit:secret@a:6379/0"), without_user("unix:///run/a@b.sock")
    ('rediss://a:6379/0', 'unix:///run/a@b.sock')
    """
    scheme, mark, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    return f"{scheme}{mark}{host.rpartition('@')[2]}{slash}{path}"


def parse_replicated(url: str) -> ReplicatedAddress:
    """Parse ``redis+sentinel://host:26379,host:26379/service`` or ``redis+cluster://host:7000``.

    Raises:
        UserError: the text does not have one of these forms. The message shows no part of the
            password.

    >>> parse_replicated("redis+sentinel://pit:p%40ss@a:26379,b/pitlink/1?replicas=2").places[1].port
    26379
    """
    whole = _WHOLE.fullmatch(url)
    if whole is None:
        raise UserError(
            "this is not the address of a Redis with replicas: write redis+sentinel://host:26379,"
            "host:26379/service or redis+cluster://host:6379,host:6379, with rediss for TLS, and"
            " write / ? # @ of a password as %2F %3F %23 %40"
        )
    tls, sentinel = bool(whole["tls"]), whole["kind"] == "sentinel"
    options = _options(whole["options"] or "", tls=tls)
    service, database = _service(whole["path"] or "") if sentinel else ("", 0)
    if not sentinel and (whole["path"] or "/") not in {"/", "/0"}:
        raise UserError("a Redis Cluster has only database 0: write nothing after its hosts")
    return ReplicatedAddress(
        places=tuple(_place(text, _PORTS[whole["kind"]]) for text in whole["hosts"].split(",")),
        service=service,
        database=database,
        tls=tls,
        replicas=int(options.pop("replicas", "1")),
        options=tuple(options.items()),
    )


def _service(path: str) -> tuple[str, int]:
    found = _SERVICE.fullmatch(path)
    if found is None:
        raise UserError(
            "after the sentinels, write the name by which they watch the Redis, and a database's"
            " number if it is not 0: redis+sentinel://host:26379,host:26379/pitlink/1"
        )
    return found["name"], int(found["database"] or 0)


def _place(text: str, usual_port: int) -> HostPort:
    try:
        parts = urlsplit(f"//{text}")
        host, port = unquote(parts.hostname or ""), parts.port
    except ValueError:
        host, port = "", 0
    if not is_host(host) or port == 0:
        raise UserError(
            f"the hosts of a Redis are separated by commas, each with a port of 1 to {_PORT_MOST}"
            " or none: host:26379,host:26379"
        )
    return HostPort(host, port or usual_port)


def _options(text: str, *, tls: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, text.split("&")):
        name, _, value = part.partition("=")
        form = _OPTIONS.get(name)
        if form is None or name in found or form.fullmatch(unquote(value)) is None:
            raise UserError(
                f"after a question mark, write replicas=1 to replicas={REPLICAS_MOST}, and with"
                f" rediss {', '.join(list(_OPTIONS)[1:])}, each once and with its value"
            )
        if name != "replicas" and not tls:
            raise UserError("certificates need rediss+sentinel:// or rediss+cluster://")
        found[name] = unquote(value)
    return found
