import re
from typing import Final
from urllib.parse import unquote, urlsplit

from bonus.errors import UserError
from meters.floor.broker_address import is_host, parse_broker_url
from meters.floor.redis_address import is_replicated, parse_replicated

_PORT_MOST: Final = 65_535
_DATABASE: Final = r"db=[0-9]{1,4}"
_TLS: Final = r"ssl_(?:ca_certs|ca_path|certfile|keyfile)=[^&#]+|ssl_check_hostname=(?:true|false)"
_OPTIONS: Final = {
    "unix": re.compile(rf"(?:{_DATABASE})?"),
    "redis": re.compile(rf"(?:{_DATABASE})?"),
    "rediss": re.compile(rf"(?:(?:{_DATABASE}|{_TLS})(?:&|\Z))*"),
}
"""All that may follow the question mark of a Redis address, for each scheme.

The Redis client would ignore any other option, or fail.
"""

_REDIS_FORMS: Final = (
    'a redis is "embedded", "redis://host:6379/0", "rediss://…", "unix:///path",'
    ' "redis+sentinel://host:26379,host:26379/service" or "redis+cluster://host:6379,host:6379"'
)


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
    options = _OPTIONS.get(parts.scheme)
    # If a password contains a # or ?, the rest of the password would be read as settings.
    if parts.fragment or options is None or options.fullmatch(parts.query) is None:
        return False
    if parts.scheme == "unix":
        return len(parts.path) > 1 and "\0" not in unquote(parts.path)
    if not is_host(unquote(parts.hostname or "")) or port == 0:
        return False
    return re.fullmatch(r"/?|/[0-9]{1,4}", parts.path) is not None


def redis_url_problem(url: str) -> str | None:
    """Return why a text is not the address of a Redis; None if it is.

    The reason repeats no part of the text, which can contain a password.

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
