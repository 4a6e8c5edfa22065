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
"""The PIN of every user of a demonstration. Everybody can know it."""

DEMONSTRATION_USERS: Final = (
    ("Dana", "dealer"),
    ("Flo", "floorperson"),
    ("Fred", "floorperson"),
    ("Sue", "supervisor"),
    ("Sam", "supervisor"),
    ("Al", "auditor"),
    ("Ada", "administrator"),
)
"""Name and role of each user. Some acts need two people with the same role."""

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
        name: the facility's name, as displays show it.
        timezone: the time zone of all times that people read, such as ``"America/New_York"``.
        validate_from: an amount in cents. The service records lower wins at fixed odds and lower
            Envy Bonuses without asking a floorperson, unless another win of the same hand waits.
            The law has no such amount (649a.11(c)(5)(iii), (7)(iii), (9)(iii)): if the amount is
            above 0, `pitlink check` warns of it, and the submission names it.
        tax_documents_from: an amount in cents. For a win of this amount or more, floor page and
            slip ask for tax documents. The wager is not subtracted from the win. Without the key,
            nothing asks for tax documents.
        two_people_reject_above: an amount in cents. If a win is higher, one person requests its
            rejection and another confirms the request. Without the key, two people reject each hand
            pay.
        warn_adjustment_percent: if an adjustment changes a meter by more than this percentage of
            its amount, the floor page warns.
        demonstration: marks every page as a demonstration. As long as no person has approved a
            floor file, the service approves it.
        day_starts: when a gaming day begins, by the facility's clock.
        confirm_corrections: table hardware needs a floorperson for each correction: the void of a
            round after its cards or results were entered; a hand or result that is entered
            differently; community cards in another order if a wager is on the first of them. At
            pitlink's own panel, corrections always need a floorperson.
        require_all_hands: the dealer must enter the cards of every hand, except of folded hands
            whose cards were collected. Without the key, the dealer can declare that a hand wins
            nothing.
        games: the directory with the game files of the house. Without the key, tables play only the
            games of the chapters.
    """

    name: Annotated[str, msgspec.Meta(min_length=1, max_length=80)]
    timezone: str
    validate_from: Annotated[int, msgspec.Meta(ge=0)] = 0
    tax_documents_from: Annotated[int, msgspec.Meta(ge=1)] | None = None
    two_people_reject_above: Annotated[int, msgspec.Meta(ge=0)] | None = None
    warn_adjustment_percent: Annotated[int, msgspec.Meta(ge=1, le=100)] = 20
    demonstration: bool = False
    day_starts: str = "06:00"
    confirm_corrections: bool = False
    require_all_hands: bool = False
    games: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] | None = None


class ArchiveSettings(Config, frozen=True, kw_only=True):
    """The archive of gaming days, and how long they are kept.

    Attributes:
        directory: the directory for the files of closed gaming days.
        live_days: how many closed gaming days stay in Redis, although they are also archived.
        keep_years: for how many years a file is kept, counted from its gaming day. `pitlink archive
            --delete-expired` deletes older files.
    """

    directory: Annotated[str, msgspec.Meta(min_length=1, max_length=4096)] = "pitlink-archive"
    live_days: Annotated[int, msgspec.Meta(ge=1, le=400)] = 7
    keep_years: Annotated[int, msgspec.Meta(ge=1, le=100)] = 7


class Service(Config, frozen=True, kw_only=True):
    """Addresses and files of the service.

    Attributes:
        broker: ``"embedded"``, if the service is to start a broker; or an address such as
            ``"mqtts://host:8883"`` or ``"mqtt://user:password@host:1883"``.
        redis: ``"embedded"``, ``"redis://host:6379/0"``, ``"rediss://…"``, ``"unix://…"``,
            ``"redis+sentinel://host:26379,host:26379/NAME"`` with Sentinel's name of the primary,
            or ``"redis+cluster://host:6379,host:6379"``. Use ``rediss+…`` for TLS.
        http: the address and port of the pages.
        data: the data directory, for ledger marks, outboxes and notes.
        idle_minutes: if a user of the floor page does nothing for so many minutes, the next act
            needs the PIN again. The page still shows what happens.
        hosts: names of machines in addresses of pages and panels. IP addresses, ``localhost`` and
            the machine's own name need no entry.
        certificate: a PEM file. With it and `private_key`, pages and panels are served by HTTPS.
        private_key: the PEM file of the certificate's key.
        metrics_token: a file with one line, the token that Prometheus sends. Without the key, only
            programs on the same machine can read `/metrics`.
        keys: the directory that `pitlink keys` makes, with certificates and passwords.
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
    try:
        ZoneInfo(facility.timezone)
    except (KeyError, ValueError, OSError):
        reason = f'{facility.timezone!r} is not a time zone; write one such as "America/New_York"'
        yield ("facility", "timezone"), reason
    if not CLOCK.fullmatch(facility.day_starts):
        yield ("facility", "day_starts"), 'day_starts is a time of day, such as "06:00"'


def archive_problems(archive: ArchiveSettings) -> Iterator[Problem]:
    if "\0" in archive.directory:
        yield ("archive", "directory"), 'directory must name a directory, such as "pitlink-archive"'


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
        yield ("service", "data"), 'data must name a directory, such as "pitlink-data"'
    for at, host in enumerate(service.hosts):
        if not is_host_name(host):
            reason = (
                f'{host!r} is not a host name; write one such as "pit.example", without scheme or'
                " port"
            )
            yield ("service", "hosts", at), reason
    if (service.certificate is None) != (service.private_key is None):
        given = "private_key" if service.certificate is None else "certificate"
        yield ("service", given), "certificate and private_key go together: give both"


def service_from(service: Service, directory: Path) -> Service:
    """Return the settings with absolute paths. Relative paths start at the directory."""
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

    If summer time begins and the clock skips this time, the gaming day begins after the usual
    number of hours since midnight. If summer time ends and the clock shows this time twice, the
    gaming day begins when the clock first shows it.
    """

    zone: ZoneInfo
    starts: time

    @classmethod
    def of_facility(cls, facility: Facility) -> Self:
        return cls(ZoneInfo(facility.timezone), time.fromisoformat(facility.day_starts))

    def of(self, moment: datetime) -> date:
        """Return the gaming day that a time belongs to.

        >>> days = GamingDays(ZoneInfo("America/New_York"), time(6))
        >>> days.of(datetime(2026, 11, 21, 10, 59, tzinfo=UTC)).isoformat()
        '2026-11-20'
        """
        day = moment.astimezone(self.zone).date()
        return day if moment >= self._start(day) else day - _DAY

    def bounds(self, day: date) -> tuple[datetime, datetime]:
        """Return the starts of a gaming day and of the next one, in UTC (23 to 25 hours apart)."""
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
