"""Addresses of brokers, of Redis and of servers, in the floor file and on command lines."""

import re
import ssl
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final, Self
from urllib.parse import quote, unquote, urlsplit

from bonus.errors import UserError
from meters.floor.key_bundle import TlsFiles

BROKER_URL_FILE: Final = "broker.url"
"""File in the data directory with the address of the service's embedded broker."""

REPLICAS_MOST: Final = 9
_PORT_MOST: Final = 65_535
_CREDENTIAL_BYTES_MAX: Final = 65_535
_BROKER_PORTS: Final = {"mqtt": 1883, "mqtts": 8883}
_REPLICATED_PORTS: Final = {"sentinel": 26_379, "cluster": 6_379}
_HOST: Final = re.compile(r"[^\s\x00-\x20\x7f/]{1,253}")
_DATABASE: Final = r"db=[0-9]{1,4}"
_TLS_FILE: Final = r"ssl_(?:ca_certs|ca_path|certfile|keyfile)="
_REDIS_OPTIONS: Final = {
    "unix": re.compile(rf"(?:{_DATABASE})?"),
    "redis": re.compile(rf"(?:{_DATABASE})?"),
    "rediss": re.compile(
        rf"(?:(?:{_DATABASE}|{_TLS_FILE}[^&#]+|ssl_check_hostname=(?:true|false))(?:&|\Z))*"
    ),
}
"""The options that may follow the question mark of a Redis address, for each scheme.

If an address had another option, the Redis client would ignore it or fail.
"""

_REPLICATED: Final = re.compile(
    r"redis(?P<tls>s?)\+(?P<kind>sentinel|cluster)://(?:(?P<access>[^@/?#]*)@)?(?P<hosts>[^@/?#]+)"
    r"(?P<path>/[^?#]*)?(?:\?(?P<options>[^#]*))?"
)
_SERVICE: Final = re.compile(r"/(?P<name>[A-Za-z0-9._-]{1,64})(?:/(?P<database>[0-9]{1,4})?)?")
_REPLICATED_OPTIONS: Final = {
    "replicas": re.compile(rf"[1-{REPLICAS_MOST}]"),
    "ssl_ca_certs": re.compile(r".+"),
    "ssl_ca_path": re.compile(r".+"),
    "ssl_certfile": re.compile(r".+"),
    "ssl_keyfile": re.compile(r".+"),
    "ssl_check_hostname": re.compile(r"true|false"),
}
"""Options for the address of a Redis with replicas. All but the first need TLS."""

_REDIS_FORMS: Final = (
    'a redis is "embedded", "redis://host:6379/0", "rediss://…", "unix:///path",'
    ' "redis+sentinel://host:26379,host:26379/service" or "redis+cluster://host:6379,host:6379"'
)


@dataclass(frozen=True, slots=True)
class BrokerAddress:
    """Host, port and credentials of a broker.

    Without TLS `files` of a key bundle, the client trusts the authorities of the system. Services
    with the secret name `event_group` share the events of tables: each event goes to one of them.
    `client_name` is the name that the broker gives to a client with this bundle. `mqtt5` is false
    if the broker is known to support only MQTT 3.1.1.
    """

    host: str
    port: int
    username: str | None
    password: str | None = field(repr=False)
    tls: bool
    files: TlsFiles | None = None
    event_group: str | None = field(default=None, repr=False)
    client_name: str | None = None
    mqtt5: bool = True

    def tls_context(self) -> ssl.SSLContext | None:
        """Return the client's TLS settings; None if connections are not encrypted.

        Each call reads the files again. The client checks the name of the host.

        Raises:
            UserError: a file of the bundle cannot be used.
        """
        if not self.tls:
            return None
        return self.files.context() if self.files else ssl.create_default_context()


def parse_broker_url(url: str) -> BrokerAddress:
    """Parse a broker's address: ``mqtt://user:password@host:port``, or ``mqtts://`` for TLS.

    If the text is not an address, the `UserError` does not show the password.

    >>> parse_broker_url("mqtt://pit:p%40ss@10.0.0.7").port
    1883
    """
    # The error message repeats nothing of a wrong address: any part can belong to a password.
    wrong = UserError(
        "this is not a broker's address: use mqtt://host:port or mqtts://host:port, and write"
        " / ? # @ of a password as %2F %3F %23 %40"
    )
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise wrong from None
    fits = parts.scheme in _BROKER_PORTS and port != 0 and is_host(parts.hostname or "")
    if not fits or parts.path.strip("/") or parts.query or parts.fragment:
        raise wrong
    user, password = (
        None if part is None else unquote(part) for part in (parts.username, parts.password)
    )
    if max(len((part or "").encode()) for part in (user, password)) > _CREDENTIAL_BYTES_MAX:
        raise UserError("MQTT allows no name or password of more than 65,535 bytes")
    return BrokerAddress(
        parts.hostname or "",
        port or _BROKER_PORTS[parts.scheme],
        user,
        password,
        parts.scheme == "mqtts",
    )


def is_host(name: str) -> bool:
    """Check if a text can be a host name or an IP address.

    >>> is_host("10.0.0.7"), is_host("broker..example")
    (True, False)
    """
    if _HOST.fullmatch(name) is None:
        return False
    try:
        name.encode("idna")
    except UnicodeError:
        return False
    return True


def embedded_broker_url(data: Path) -> str:
    """Return the address of the embedded broker that `pitlink serve` has started.

    Raises:
        UserError: no embedded broker runs now.
    """
    path = data / BROKER_URL_FILE
    try:
        return path.read_text(encoding="utf-8").strip()
    except (OSError, UnicodeDecodeError):
        raise UserError(
            f"no address of an embedded broker can be read at {path}: start `pitlink serve` first"
        ) from None


@dataclass(frozen=True, slots=True)
class HostPort:
    host: str
    port: int

    @classmethod
    def of(cls, text: str) -> Self:
        host, _, port = text.rpartition(":")
        return cls(host, int(port))

    def __str__(self) -> str:
        return f"{self.host}:{self.port}"


@dataclass(frozen=True, slots=True)
class ReplicatedAddress:
    """Address of a Redis that has replicas.

    `places` are the sentinels, or some nodes of the cluster; each of them knows the primary.
    `service` is the sentinels' name for the Redis. A cluster has no name, and only database 0.
    A write is answered only after this number of `replicas`, at least 1, has received it. `tls` is
    for servers and sentinels. `options` have the names of the Redis client's parameters.
    """

    places: tuple[HostPort, ...]
    service: str
    database: int
    tls: bool
    replicas: int
    options: tuple[tuple[str, str], ...] = ()


def is_replicated(url: str) -> bool:
    """Check if a text has the form of an address of a Redis with replicas.

    >>> is_replicated("rediss+cluster://10.0.0.8:7000"), is_replicated("redis://10.0.0.8/0")
    (True, False)
    """
    return re.match(r"rediss?\+", url) is not None


def hosts_of(url: str) -> tuple[str, ...]:
    """Return the hosts in the address of a broker or a Redis, each host once.

    >>> hosts_of("redis+cluster://a:7000,b:7000"), hosts_of("mqtt://c"), hosts_of("embedded")
    (('a', 'b'), ('c',), ())
    """
    if is_replicated(url):
        return tuple(dict.fromkeys(place.host for place in parse_replicated(url).places))
    host = urlsplit(url).hostname
    return (host,) if host else ()


def with_one_host(url: str) -> str:
    """Return an address with only its first host, so that it can be parsed as a URL.

    >>> with_one_host("redis+sentinel://pit:secret@a:26379,b:26379/pitlink")
    'redis+sentinel://pit:secret@a:26379/pitlink'
    """
    whole = _REPLICATED.fullmatch(url)
    if whole is None:
        return url
    start, end = whole.span("hosts")
    return url[:start] + whole["hosts"].partition(",")[0] + url[end:]


def with_rooted_files(url: str, directory: Path) -> str:
    """Return the address of a Redis. Relative paths of its TLS files start at the directory."""

    def rooted(option: re.Match[str]) -> str:
        return option["name"] + quote(str(directory / unquote(option["path"])))

    return re.sub(rf"(?P<name>[?&]{_TLS_FILE})(?P<path>[^&#]+)", rooted, url)


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

    If the text is not an address, the `UserError` shows no part of the password.

    >>> parse_replicated("redis+sentinel://pit:p%40ss@a:26379,b/pitlink/1?replicas=2").places[1].port
    26379
    """
    whole = _REPLICATED.fullmatch(url)
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
        places=tuple(
            _place(text, _REPLICATED_PORTS[whole["kind"]]) for text in whole["hosts"].split(",")
        ),
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
            f"write each Redis host as HOST or HOST:PORT (a port of 1 to {_PORT_MOST}), with commas"
            " between them: host:26379,host:26379"
        )
    return HostPort(host, port or usual_port)


def _options(text: str, *, tls: bool) -> dict[str, str]:
    found: dict[str, str] = {}
    for part in filter(None, text.split("&")):
        name, _, value = part.partition("=")
        form = _REPLICATED_OPTIONS.get(name)
        if form is None or name in found or form.fullmatch(unquote(value)) is None:
            raise UserError(
                "after ?, only these options are allowed, each once, with & between them:"
                f" replicas=N (1 to {REPLICAS_MOST}) and, with rediss,"
                f" {', '.join(f'{each}=VALUE' for each in list(_REPLICATED_OPTIONS)[1:])}"
            )
        if name != "replicas" and not tls:
            raise UserError("certificates need rediss+sentinel:// or rediss+cluster://")
        found[name] = unquote(value)
    return found


def is_broker(url: str) -> bool:
    """Check if a text is the address of a broker.

    >>> is_broker("mqtt://pit:secret@10.0.0.7:1883"), is_broker("10.0.0.7:1883")
    (True, False)
    """
    try:
        parse_broker_url(url)
    except UserError:
        return False
    return True


def is_redis(url: str) -> bool:
    """Check if a text is the address of one Redis, with or without a database number.

    >>> is_redis("redis://10.0.0.8:6379/0"), is_redis("redis://10.0.0.8:6379/meters")
    (True, False)
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        return False
    options = _REDIS_OPTIONS.get(parts.scheme)
    # The rest of a password that contains # or ? would be read as options.
    if parts.fragment or options is None or options.fullmatch(parts.query) is None:
        return False
    if parts.scheme == "unix":
        return len(parts.path) > 1 and "\0" not in unquote(parts.path)
    if not is_host(unquote(parts.hostname or "")) or port == 0:
        return False
    return re.fullmatch(r"/?|/[0-9]{1,4}", parts.path) is not None


def redis_url_problem(url: str) -> str | None:
    """Return why a text is not a Redis address; None if it is one. The text is not repeated.

    >>> redis_url_problem("redis+sentinel://a:26379,b:26379/pitlink") is None
    True
    """
    if is_replicated(url):
        try:
            parse_replicated(url)
        except UserError as error:
            return str(error)
        return None
    return None if is_redis(url) else _REDIS_FORMS


def is_listening_address(text: str) -> bool:
    """Check if a text is an address and a port on which a server can listen.

    >>> is_listening_address("127.0.0.1:8080"), is_listening_address("http://127.0.0.1:8080")
    (True, False)
    """
    host, _, port = text.rpartition(":")
    if not is_host(host) or re.fullmatch(r"[0-9]{1,5}", port) is None:
        return False
    return 1 <= int(port) <= _PORT_MOST


def is_host_name(text: str) -> bool:
    """Check if a text can be a host name in the address that a browser requests.

    >>> is_host_name("pit-3.casino.example"), is_host_name("https://pit-3"), is_host_name("*")
    (True, False, False)
    """
    label = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
    return len(text) < 254 and re.fullmatch(rf"{label}(?:\.{label})*", text.lower()) is not None
