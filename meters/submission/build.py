import hashlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import date
from importlib.metadata import version
from pathlib import Path

from bonus.errors import UserError
from bonus.odds.odds_entries import OddsEntry
from bonus.odds.offers import Offer
from meters.floor.facility import Facility
from meters.floor.floor_file import Floor, FloorError, read_floor
from meters.floor.floor_offers import floor_offers
from meters.floor.game_files import GameText, read_game_texts
from meters.selfcheck.software import Software
from meters.submission.contents import FacilitySettings, FileDigest, SoftwareDigest, Submission
from meters.submission.game_filings import added_by_house, game_filings, link_filings

Count = Callable[[Sequence[Offer]], Sequence[OddsEntry]]
"""Function that returns the odds of offers, in the same order."""

_NAMED_MOST = 3


@dataclass(frozen=True, slots=True)
class FloorTexts:
    """A floor with the digest of its file, and with the texts of its house games."""

    floor: Floor
    file: FileDigest
    games: dict[str, GameText]


def read_texts(config: Path) -> FloorTexts:
    """Read a floor file and the files of its house games.

    Raises:
        FloorError: the floor file cannot be used, or changed while it was read.
        GameError: a game file cannot be used, or changed while it was read.
    """
    return read_unchanged(config, sha256_of(config))


def read_unchanged(config: Path, sha256: str) -> FloorTexts:
    """Read a floor file and the files of its house games, if the floor file has a certain digest.

    Raises:
        FloorError: the floor file cannot be used, or has another digest.
        GameError: a game file cannot be used, or changed while it was read.
    """
    floor = read_floor(config)
    games: dict[str, GameText] = {}
    if floor.facility.games is not None:
        games = read_game_texts(config.absolute().parent / floor.facility.games, floor.games)
    if sha256_of(config) != sha256:
        raise FloorError(f"{config}: the file changed while it was read: try again")
    return FloorTexts(floor, FileDigest(name=config.name, sha256=sha256), games)


def build_submission(texts: FloorTexts, software: Software, day: date, count: Count) -> Submission:
    """Build the submission of a floor.

    `day` is by the facility's clock. `count` can take minutes.

    Raises:
        UserError: the installed programs differ from their wheel, or no table offers a wager.
    """
    floor = texts.floor
    installed = _software(software)
    offers = floor_offers(floor)
    if not offers:
        raise UserError("no table of the floor file offers a wager, so there is nothing to submit")
    entries = count(offers)
    games = game_filings(floor, texts.games, list(zip(offers, entries, strict=True)))
    return Submission(
        facility=floor.facility.name,
        date=day.isoformat(),
        timezone=floor.facility.timezone,
        demonstration=floor.facility.demonstration,
        software=installed,
        floor_file=texts.file,
        settings=_settings(floor.facility),
        games=games,
        links=link_filings(floor, entries),
        added_by_house=added_by_house(games, [floor.games[game.game] for game in games]),
    )


def sha256_of(path: Path) -> str:
    """Return the SHA-256 of a floor file; a FloorError if it cannot be read."""
    try:
        return hashlib.sha256(path.read_bytes()).hexdigest()
    except OSError as error:
        raise FloorError(f"{path}: cannot be read: {error.strerror}") from None


def _software(software: Software) -> SoftwareDigest:
    if software.problems:
        more = len(software.problems) - _NAMED_MOST
        named = "; ".join(software.problems[:_NAMED_MOST]) + (f"; {more} more" if more > 0 else "")
        reason = f"the installed programs are not those of their wheel ({named})"
        raise UserError(f"{reason}: install the wheel again")
    return SoftwareDigest(
        version=version("pitlink"),
        files=software.files,
        sha256=software.digest,
        from_wheel=software.recorded,
    )


def _settings(facility: Facility) -> FacilitySettings:
    return FacilitySettings(
        validate_from_cents=facility.validate_from,
        tax_documents_above_cents=facility.tax_documents_above,
        two_people_reject_above_cents=facility.two_people_reject_above,
        confirm_corrections=facility.confirm_corrections,
        require_all_hands=facility.require_all_hands,
        day_starts=facility.day_starts,
    )
