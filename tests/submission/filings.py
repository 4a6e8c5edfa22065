import io
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path
from typing import Any

import msgspec
import pypdf
import pytest
import typer
from typer.testing import CliRunner, Result

from meters.cli.odds import odds
from meters.cli.submit import submit
from meters.reports.submission_contents import Submission

Fields = dict[str, Any]
FLOORS = pytest.mark.parametrize(
    "filing", ["house", pytest.param("shipped", marks=pytest.mark.slow)], indirect=True
)


@dataclass(frozen=True, slots=True)
class Commands:
    cache: Path

    def run(self, command: str, *arguments: str) -> Result:
        app = typer.Typer(rich_markup_mode="markdown", pretty_exceptions_enable=False)
        app.command("submit")(submit)
        app.command("odds")(odds)
        environment = {"XDG_CACHE_HOME": os.fspath(self.cache)}
        return CliRunner().invoke(app, [command, *arguments], env=environment)

    def submit(self, config: Path, out: Path) -> "Filing":
        done = self.run("submit", "--config", str(config), "--out", str(out))
        assert done.exit_code == 0, done.output
        return Filing(config, out)

    def odds(self, config: Path) -> list[Fields]:
        done = self.run("odds", "--config", str(config), "--json")
        assert done.exit_code == 0, done.output
        return msgspec.json.decode(done.stdout, type=list[Fields])


@dataclass(frozen=True, slots=True)
class Filing:
    config: Path
    out: Path

    @property
    def json(self) -> bytes:
        return (self.out / "submission.json").read_bytes()

    @property
    def pdf(self) -> bytes:
        return (self.out / "submission.pdf").read_bytes()

    @property
    def fields(self) -> Fields:
        return msgspec.json.decode(self.json, type=Fields)

    @property
    def submission(self) -> Submission:
        return msgspec.json.decode(self.json, type=Submission, dec_hook=share_of)

    @property
    def pages(self) -> list[str]:
        return pages_of(self.pdf)

    def game(self, name: str) -> Fields:
        return named(self.fields["games"], "game", name)

    def wagers(self) -> Iterator[tuple[Fields, Fields]]:
        for game in self.fields["games"]:
            for wager in game["wagers"]:
                yield game, wager

    def wager(self, game: str, wager: str, table: str) -> Fields:
        (found,) = (
            each
            for each in self.game(game)["wagers"]
            if each["wager"] == wager and table in each["tables"]
        )
        return dict(found)


def share_of(_: type, share: dict[str, str]) -> Fraction:
    return Fraction(share["exact"])


def pages_of(pdf: bytes) -> list[str]:
    return [page.extract_text() for page in pypdf.PdfReader(io.BytesIO(pdf)).pages]


def named(items: Sequence[Fields], key: str, name: str) -> Fields:
    (found,) = (item for item in items if item[key] == name)
    return found
