"""Refusals of `pitlink submit`, which writes a directory whole or not at all."""

import resource
import signal
from collections.abc import Iterator, Mapping
from pathlib import Path

import pytest

from bonus.errors import UserError
from meters.cli.submit import submitted, write_directory
from meters.floor.floor_file import FloorError
from meters.floor.game_files import GameError, read_game_texts, read_games
from meters.reports.submission import read_texts, sha256_of
from meters.selfcheck.software import Software
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.submission.filings import Commands
from tests.submission.floors import house_floor

GOOD = floor_text(link_text("one", table_text("T", paytables={"pair_plus": "A"})))


@pytest.fixture
def floor(tmp_path: Path) -> Path:
    path = tmp_path / "floor.toml"
    path.write_text(GOOD)
    return path


def refusal(commands: Commands, config: Path, out: Path, home: Path | None = None) -> str:
    """Return the message of a refusal with the status 1, which wrote nothing next to `out`."""
    home = home or out.parent
    before = tree(home)
    done = commands.run("submit", "--config", str(config), "--out", str(out))
    assert isinstance(done.exception, UserError), done.output
    assert done.exception.exit_status == 1
    assert tree(home) == before
    return str(done.exception)


def tree(directory: Path) -> dict[str, bytes | None]:
    return {
        str(path): path.read_bytes() if path.is_file() else None for path in directory.rglob("*")
    }


@pytest.mark.slow
@pytest.mark.parametrize(
    ("text", "says"),
    [
        (GOOD.replace('"T"', '"T'), "floor.toml:10: a quote is missing"),
        (GOOD.replace("positions = 7", "positions = 8"), "no more than 7 positions"),
        (GOOD + "limit = 3\n", "limit"),
        (floor_text(link_text("one")), "no table of the floor file offers a wager"),
        (
            floor_text(link_text("one", meter_text("progressive"))),
            "no table of the floor file offers a wager",
        ),
        (GOOD.replace('"Test House"', '"Test House"\ngames = "none"'), "cannot be read"),
    ],
)
def test_a_floor_file_that_cannot_be_used(
    text: str, says: str, floor: Path, commands: Commands
) -> None:
    floor.write_text(text)
    assert says in refusal(commands, floor, floor.parent / "out")


def test_a_game_file_with_an_error(commands: Commands, tmp_path: Path) -> None:
    config = house_floor(tmp_path / "house")
    game = tmp_path / "house" / "games" / "river_duel.toml"
    game.write_text(game.read_text().replace('flush = "15 for 1"', 'flush = "15 of 1"'))
    said = refusal(commands, config, tmp_path / "out")
    assert "river_duel.toml:" in said
    assert "'15 of 1' is not a payout" in said


@pytest.mark.parametrize(
    ("config", "out", "says"),
    [
        ("none.toml", "out", "none.toml: cannot be read: No such file or directory"),
        ("floor.toml", "full", "full: the directory has files, and none is replaced: name a new"),
        ("floor.toml", "floor.toml", "name a new directory"),
        ("floor.toml", "link", "name a new directory"),
        ("floor.toml", "none/out", "none/out: there is no directory {}/none: make it first"),
    ],
)
def test_files_and_directories_that_do_not_suit(
    config: str, out: str, says: str, floor: Path, commands: Commands
) -> None:
    home = floor.parent
    for name in ("full", "empty"):
        (home / name).mkdir()
    (home / "full" / "submission.json").write_text("an earlier one")
    (home / "link").symlink_to(home / "empty")
    assert says.format(home) in refusal(commands, home / config, home / out, home)


@pytest.mark.slow
def test_an_empty_directory_is_filled_once(floor: Path, commands: Commands) -> None:
    out = floor.parent / "out"
    out.mkdir()
    commands.submit(floor, out)
    assert sorted(path.name for path in out.iterdir()) == ["submission.json", "submission.pdf"]
    assert sorted(path.name for path in out.parent.iterdir()) == ["floor.toml", "out"]
    assert "none is replaced" in refusal(commands, floor, out)


def test_a_full_disk_leaves_nothing(tmp_path: Path) -> None:
    """The system refuses to write more than a kilobyte to a file, as it does on a full disk."""
    before = signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
    limits = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (1_000, limits[1]))
    try:
        with pytest.raises(UserError, match="cannot be written: File too large: nothing was"):
            write_directory(tmp_path / "out", {"small": b"a", "large": b"b" * 10_000})
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, limits)
        signal.signal(signal.SIGXFSZ, before)
    assert tree(tmp_path) == {}


class _LateFiles(Mapping[str, bytes]):
    """Files that are written while another program puts a file into the directory."""

    def __init__(self, out: Path) -> None:
        self._out = out

    def __getitem__(self, name: str) -> bytes:
        self._out.mkdir()
        (self._out / name).write_bytes(b"of another program")
        return b"of ours"

    def __iter__(self) -> Iterator[str]:
        return iter(["submission.json"])

    def __len__(self) -> int:
        return 1


def test_a_file_that_comes_during_the_writing_is_not_replaced(tmp_path: Path) -> None:
    out = tmp_path / "out"
    with pytest.raises(UserError, match="the directory has files"):
        write_directory(out, _LateFiles(out))
    assert tree(tmp_path) == {str(out): None, str(out / "submission.json"): b"of another program"}


def test_altered_programs_are_not_submitted() -> None:
    altered = Software(3, "ab" * 32, ("bonus/cards.py is altered", "b", "c", "d"))
    with pytest.raises(UserError, match=r"\(bonus/cards.py is altered; b; c; 1 more\): install"):
        submitted(altered)


def test_a_floor_file_that_changes_while_it_is_read(floor: Path) -> None:
    before = sha256_of(floor)
    assert read_texts(floor, before).file.sha256 == before
    floor.write_text(GOOD.replace('"A"', '"B"'))
    with pytest.raises(FloorError, match="changed while it was read"):
        read_texts(floor, before)


def test_a_game_file_that_changes_while_it_is_read(tmp_path: Path) -> None:
    house_floor(tmp_path)
    games = read_games(tmp_path / "games")
    path = tmp_path / "games" / "keystone_stud.toml"
    assert read_game_texts(tmp_path / "games", games)["keystone_stud"].text == path.read_text()
    path.write_text(path.read_text() + "# further\n")
    with pytest.raises(GameError, match="the file of keystone_stud changed"):
        read_game_texts(tmp_path / "games", games)


@pytest.mark.slow
def test_a_floor_of_a_demonstration_is_said_to_be_one(floor: Path, commands: Commands) -> None:
    floor.write_text(GOOD.replace('"Test House"', '"Test House"\ndemonstration = true'))
    out = floor.parent / "out"
    done = commands.run("submit", "--config", str(floor), "--out", str(out))
    assert done.exit_code == 0
    assert "the floor file is for a demonstration: do not file this" in done.stderr
