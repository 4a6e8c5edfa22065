"""Settings of the whole facility in the floor file, its gaming days, and its demonstration."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from pathlib import Path
from typing import Annotated, Final, Self
from zoneinfo import ZoneInfo

import msgspec

from meters.floor.server_addresses import (
    is_broker,
    is_host_name,
    is_listening_address,
    redis_url_problem,
    with_rooted_files,
)

DEMONSTRATION_MARK: Final = "Demonstration: simulated play, no real money"

PUBLIC_PIN: Final = "135790"
"""Every user of a demonstration has it, and it is public."""

DEMONSTRATION_USERS: Final = (
    ("Dana", "dealer"),
    ("Flo", "floorperson"),
    ("Fred", "floorperson"),
    ("Sue", "supervisor"),
    ("Sam", "supervisor"),
    ("Al", "auditor"),
    ("Ada", "administrator"),
)
"""Some acts need two people with the same role: so two floorpersons and two supervisors."""

SERVICE_PATHS: Final = ("data", "keys", "certificate", "private_key", "metrics_token")
_DAY: Final = timedelta(days=1)

Problem = tuple[tuple[str | int, ...], str]
"""An error in the floor file: the path of the wrong value, and a message."""

CLOCK: Final = re.compile(r"([01]\d|2[0-3]):[0-5]\d")


class Config(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    pass


class Facility(Config, frozen=True, kw_only=True):
    """The licensed facility.

    Attributes:
        name: the name that displays show.
        timezone: the time zone of all times that people read.
        validate_from: an amount in cents. A smaller win at fixed odds needs no floorperson.
        tax_documents_above: an amount in cents. For a larger win, the floor page says that tax
            documents are needed. None: the page never says so.
        two_people_reject_above: an amount in cents. Two people must reject a larger win: one
            requests it, another confirms it. None: two people must reject each hand pay.
        warn_adjustment_percent: the page warns if an adjustment moves a meter by more than this
            percentage of its amount.
        demonstration: whether every page says that it is a demonstration.
        day_starts: the local time at which a gaming day begins.
        confirm_corrections: whether a floorperson must confirm each correction, even if the table
            does not request this. A correction is the void of a round after its cards were entered,
            or a hand that was entered again with other cards.
        games: the directory with the game files of the house, relative to the floor file's. None:
            tables play only the games of the chapters.
        require_all_hands: whether a table must send the cards of every hand. If false, the dealer
            can declare that a hand wins nothing.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    timezone: str
    validate_from: Annotated[int, msgspec.Meta(ge=0)] = 0
    tax_documents_above: Annotated[int, msgspec.Meta(ge=0)] | None = None
    two_people_reject_above: Annotated[int, msgspec.Meta(ge=0)] | None = None
    warn_adjustment_percent: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    demonstration: bool = False
    day_starts: str = "06:00"
    confirm_corrections: bool = False
    require_all_hands: bool = False
    games: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] | None = None


class ArchiveSettings(Config, frozen=True, kw_only=True):
    """Directory of the archived gaming days, and the times for which they are kept.

    Attributes:
        live_days: the number of closed gaming days that remain in Redis although they are archived.
        keep_years: the number of years for which a file must be kept, counted from its gaming day.
    """

    directory: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] = "pitlink-archive"
    live_days: Annotated[int, msgspec.Meta(ge=1, le=400)] = 7
    keep_years: Annotated[int, msgspec.Meta(ge=1, le=100)] = 7


class Service(Config, frozen=True, kw_only=True):
    """Addresses and files of the service. It starts each server whose address is `embedded`.

    All paths are relative to the floor file's directory.

    Attributes:
        http: the address and the port on which the service serves pages.
        data: the data directory, for ledger marks, outboxes and notes.
        idle_minutes: the minutes after which an idle user must enter their PIN before they act.
        hosts: host names that people can use in the address of a page, besides the usual ones.
        certificate: the PEM file of the certificate, for pages over HTTPS.
        private_key: the PEM file of the certificate's key.
        metrics_token: the file with the token that Prometheus must send. None: only programs on the
            service's machine can read `/metrics`.
        keys: the directory of key bundles, made by `pitlink keys`.
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
    """Yield the errors that the types of the fields cannot detect."""
    try:
        ZoneInfo(facility.timezone)
    except (KeyError, ValueError, OSError):
        reason = f'{facility.timezone!r} is not a time zone; write one such as "America/New_York"'
        yield ("facility", "timezone"), reason
    if not CLOCK.fullmatch(facility.day_starts):
        yield ("facility", "day_starts"), 'day_starts is a time of day, such as "06:00"'


def archive_problems(archive: ArchiveSettings) -> Iterator[Problem]:
    if "\0" in archive.directory:
        yield ("archive", "directory"), 'directory is a directory, such as "pitlink-archive"'


def service_problems(service: Service) -> Iterator[Problem]:
    # The error messages do not repeat the addresses, because an address can contain a password.
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
            reason = f'{host!r} is not a host name; write "pit.example", without scheme or port'
            yield ("service", "hosts", at), reason
    if (service.certificate is None) != (service.private_key is None):
        given = "private_key" if service.certificate is None else "certificate"
        yield ("service", given), "certificate and private_key go together: give both"


def service_from(service: Service, directory: Path) -> Service:
    """Return the settings with absolute paths; a relative one starts at the directory."""
    found = {
        name: str(directory / of)
        for name in SERVICE_PATHS
        if (of := getattr(service, name)) is not None
    }
    return msgspec.structs.replace(
        service, **found, redis=with_rooted_files(service.redis, directory)
    )


@dataclass(frozen=True, slots=True)
class GamingDays:
    """Gaming days of a facility, which begin at the local time `starts`.

    If the clock skips this time when summer time begins, the gaming day begins when the usual
    number of hours has passed since midnight. If it shows this time twice when summer time ends,
    the gaming day begins the first time.
    """

    zone: ZoneInfo
    starts: time

    @classmethod
    def of_facility(cls, facility: Facility) -> Self:
        return cls(ZoneInfo(facility.timezone), time.fromisoformat(facility.day_starts))

    def of(self, moment: datetime) -> date:
        """Return the gaming day to which a time belongs.

        >>> days = GamingDays(ZoneInfo("America/New_York"), time(6))
        >>> days.of(datetime(2026, 11, 21, 10, 59, tzinfo=UTC)).isoformat()
        '2026-11-20'
        """
        day = moment.astimezone(self.zone).date()
        return day if moment >= self._start(day) else day - _DAY

    def bounds(self, day: date) -> tuple[datetime, datetime]:
        """Return the starts of a gaming day and the next in UTC, 23, 24 or 25 hours apart."""
        return self._start(day), self._start(day + _DAY)

    def _start(self, day: date) -> datetime:
        return datetime.combine(day, self.starts, self.zone).astimezone(UTC)


def demonstration_users() -> str:
    """Return the demonstration's users as a text, grouped by role.

    >>> demonstration_users()[:45]
    'Dana (dealer), Flo and Fred (floorperson), Su'
    """
    by_role: dict[str, list[str]] = {}
    for name, role in DEMONSTRATION_USERS:
        by_role.setdefault(role, []).append(name)
    return ", ".join(f"{' and '.join(names)} ({role})" for role, names in by_role.items())
