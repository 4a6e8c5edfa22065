"""The floor file's settings of the whole facility: what it is, where its parts and files are."""

import re
from collections.abc import Iterator
from typing import Annotated, Final
from zoneinfo import ZoneInfo

import msgspec

from meters.floor.address_checks import (
    is_broker,
    is_host_name,
    is_listening_address,
    redis_url_problem,
)

Problem = tuple[tuple[str | int, ...], str]
"""Where in the floor file something is wrong, and what, in words."""

_CLOCK: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """What all tables of the floor file share."""


class Facility(Config, frozen=True, kw_only=True):
    """The licensed facility.

    Attributes:
        name: as displays show it.
        timezone: in which people are told the time.
        validate_from: in cents; smaller odds payouts need no floorperson.
        tax_documents_above: in cents; for a larger win the floorperson is told that tax documents
            are needed. None: never.
        demonstration: every page says that it is one.
        day_starts: when a gaming day begins, by the facility's clock.
        confirm_corrections: a floorperson confirms each void after cards were entered and each
            result with hands entered differently, also of a table that does not ask for it.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    timezone: str
    validate_from: Annotated[int, msgspec.Meta(ge=0)] = 0
    tax_documents_above: Annotated[int, msgspec.Meta(ge=0)] | None = None
    demonstration: bool = False
    day_starts: str = "06:00"
    confirm_corrections: bool = False


class ArchiveSettings(Config, frozen=True, kw_only=True):
    """Where closed gaming days are kept, and how long.

    Attributes:
        directory: of the files.
        live_days: so many closed gaming days stay in Redis after they were archived.
        keep_years: a file may be deleted when its day is so many years past.
    """

    directory: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] = "pitlink-archive"
    live_days: Annotated[int, msgspec.Meta(ge=1, le=400)] = 7
    keep_years: Annotated[int, msgspec.Meta(ge=1, le=100)] = 7


class Service(Config, frozen=True, kw_only=True):
    """Where the parts are; `embedded` starts them with the service.

    All paths are relative to the floor file's directory. `data` is the data directory.
    `idle_minutes` is how long a signed-in person may do nothing before he has to sign in again.
    `hosts` are further names by which pages are asked for; `certificate` and `private_key` are PEM
    files, for pages over HTTPS.
    `metrics_token` is a file with what Prometheus has to show; without it `/metrics` is for
    programs of the same machine alone.
    `keys` is the directory that `pitlink keys` fills.
    """

    broker: str = "embedded"
    redis: str = "embedded"
    http: str = "127.0.0.1:8080"
    data: str = "pitlink-data"
    idle_minutes: Annotated[int, msgspec.Meta(ge=1, le=60)] = 5
    hosts: tuple[str, ...] = ()
    certificate: str | None = None
    private_key: str | None = None
    metrics_token: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] | None = None
    keys: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] | None = None


def facility_problems(facility: Facility) -> Iterator[Problem]:
    """What is wrong with the facility that its types do not say."""
    try:
        ZoneInfo(facility.timezone)
    except (KeyError, ValueError, OSError):
        reason = f'{facility.timezone!r} is no time zone: one is "America/New_York"'
        yield ("facility", "timezone"), reason
    if not _CLOCK.fullmatch(facility.day_starts):
        yield ("facility", "day_starts"), 'day_starts is a time of the clock, such as "06:00"'


def archive_problems(archive: ArchiveSettings) -> Iterator[Problem]:
    """What is wrong with the archive's settings that their types do not say."""
    if "\0" in archive.directory:
        yield ("archive", "directory"), 'directory is a directory, such as "pitlink-archive"'


def service_problems(service: Service) -> Iterator[Problem]:
    """What is wrong with the addresses of the parts."""
    # The addresses are not repeated here: they may hold passwords.
    if service.broker != "embedded" and not is_broker(service.broker):
        reason = 'a broker is "embedded", "mqtt://host:1883" or "mqtts://host:8883"'
        yield ("service", "broker"), reason
    if service.redis != "embedded" and (mistake := redis_url_problem(service.redis)):
        yield ("service", "redis"), mistake
    if not is_listening_address(service.http):
        yield ("service", "http"), 'http is an address and a port, such as "127.0.0.1:8080"'
    if not service.data or "\0" in service.data:
        yield ("service", "data"), 'data is a directory, such as "pitlink-data"'
    for at, host in enumerate(service.hosts):
        if not is_host_name(host):
            reason = f'{host!r} is no host name: one is "pit.example", without scheme or port'
            yield ("service", "hosts", at), reason
    if (service.certificate is None) != (service.private_key is None):
        given = "private_key" if service.certificate is None else "certificate"
        yield ("service", given), "certificate and private_key go together: give both"
