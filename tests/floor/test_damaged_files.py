"""Whatever is wrong with a file that a command reads: an error with the file, no traceback."""

import os
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from importlib.resources import files
from pathlib import Path
from typing import Final

import pytest

import bonus.law
from bonus.errors import UserError
from bonus.law import chapter
from meters.restore.outboxes import read_outboxes
from tests.keys.floor import make_keys, write_floor
from tests.processes import invoke_pitlink, run_pitlink

PICTURE: Final = b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 1 1"/>'
NOWHERE: Final = "127.0.0.1:9"


def _make_directory(path: Path) -> None:
    path.unlink()
    path.mkdir()


def _write(content: bytes) -> Callable[[Path], object]:
    return lambda path: path.write_bytes(content)


DAMAGES: Final[dict[str, Callable[[Path], object]]] = {
    "missing": Path.unlink, "a directory": _make_directory, "empty": _write(b""),
    "not UTF-8": _write(b"\xff\xfe\x00\xff"), "other text": _write(b"[facility\n"),
    "cut short": lambda path: path.write_bytes(path.read_bytes()[:-9]),
    "deep": _write(b"[" * 200_000),
}  # fmt: skip
READ_BY: Final = {
    "floor.toml": ("check", "audit", "archive", "submit", "odds", "keys", "user"),
    "logo.svg": ("check",),
    "keys/services/1/service.crt": ("audit", "user"),
    "keys/services/1/service.key": ("audit", "user"),
    "keys/archive/archive.crt": ("archive",),
    "keys/authority/ca.crt": ("keys",),
}
"""Every file that is read before a server is asked, and commands that read it."""
MORE: Final = {
    "user": ("list",), "submit": ("--out", "filing"), "keys": ("--out", "keys"),
    "archive": (), "check": (), "audit": (), "odds": (),
}  # fmt: skip


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a floor with keys, a logo, a game of the house, and the chapters."""
    home = tmp_path_factory.mktemp("whole")
    config = write_floor(
        home / "floor.toml", broker=f"mqtts://{NOWHERE}", redis=f"rediss://{NOWHERE}/0",
        keys=Path("keys"), data=Path("data"),
    )  # fmt: skip
    config.write_text(f'{config.read_text()}\n[signage]\nlogo = "logo.svg"\n')
    shutil.copytree(str(files("bonus.law").joinpath("chapters")), home / "law" / "chapters")
    (home / "logo.svg").write_bytes(PICTURE)
    make_keys(config, home / "keys")
    return home


def _words(command: str, home: Path) -> list[str]:
    more = [str(home / "keys") if word == "keys" else word for word in MORE[command]]
    if command == "submit":
        more[1] = str(home / "filing")
    words = [command, "--config", str(home / "floor.toml")]
    return [command, *more, *words[1:]] if command == "user" else [*words, *more]


@pytest.fixture
def home(whole: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Return a copy of the floor. Commands read its copy of the chapters."""
    home = shutil.copytree(whole, tmp_path / "home")
    monkeypatch.setattr(chapter, "files", lambda _: home / "law")
    _forget_chapters()
    yield home
    _forget_chapters()


def _forget_chapters() -> None:
    for cached in (chapter.load, chapter.chapters):
        cached.cache_clear()


def _run(command: str, home: Path) -> str:
    """Return what a command says. It must end in status 1."""
    done = invoke_pitlink(*_words(command, home))
    assert done.returncode == 1, done.stdout
    return done.stdout + done.stderr


@pytest.mark.parametrize("damage", DAMAGES)
@pytest.mark.parametrize("file", READ_BY)
def test_a_damaged_file_is_named_without_a_traceback(home: Path, file: str, damage: str) -> None:
    DAMAGES[damage](home / file)
    for command in READ_BY[file]:
        said = _run(command, home)
        assert Path(file).name in said, (command, said)
        assert "Traceback" not in said


@pytest.mark.parametrize("damage", DAMAGES)
def test_a_damaged_file_of_the_law_is_named_with_what_to_do(home: Path, damage: str) -> None:
    law = home / "law/chapters/649a.toml"
    DAMAGES[damage](law)
    with pytest.raises(UserError, match=rf"{law}: .*install pitlink again"):
        chapter.load("649a")


def test_a_wrong_cell_of_the_law_is_named_with_its_line(home: Path) -> None:
    law = home / "law/chapters/649a.toml"
    text, cell = law.read_text(), '"70 for 1"'
    law.write_text(text.replace(cell, '"7000 for 1"', 1))
    with pytest.raises(UserError, match=rf"{law}.*7000 for 1.*install pitlink again"):
        chapter.load("649a")


@pytest.mark.slow
@pytest.mark.parametrize(
    ("command", "was", "becomes", "reason"),
    [
        (command, *change)
        for command in ("check", "serve")
        for change in (
            ('["70 for 1"', '["7000 for 1"',
             r"/649a\.toml:146: progressive 649a\.12\(e\)\(1\) A: straight_flush: '7000 for 1' "),
            ('"three_card_poker"', '"four_card_prime"', r": 649a and 682a are both four_card"),
        )
    ],
)  # fmt: skip
def test_a_changed_installation_is_named_by_the_commands_that_start(
    whole: Path, command: str, was: str, becomes: str, reason: str
) -> None:
    """As processes: some modules read chapters while they are imported."""
    with tempfile.TemporaryDirectory() as home:
        law = shutil.copytree(Path(bonus.law.__path__[0]).parent, f"{home}/bonus") + "/law/chapters"
        changed = Path(law, "649a.toml")
        text = changed.read_text()
        assert was in text
        changed.write_text(text.replace(was, becomes, 1))
        config, env = whole / "floor.toml", os.environ | {"PYTHONPATH": home}
        done = run_pitlink(command, "--config", str(config), env=env)
    assert (done.returncode, done.stdout) == (1, "")
    assert re.match(f"pitlink: {law}{reason}.*install pitlink again", done.stderr), done.stderr
    assert done.stderr.count("\n") == 1, "no traceback"


@pytest.mark.parametrize("damage", [*DAMAGES])
def test_a_damaged_outbox_is_named_by_the_restore(tmp_path: Path, damage: str) -> None:
    outbox = tmp_path / "A-1.sqlite"
    outbox.write_bytes(b"SQLite format 3\0" + bytes(200))
    DAMAGES[damage](outbox)
    paths = [outbox] if damage == "missing" else [tmp_path]
    with pytest.raises(UserError, match=r"A-1\.sqlite"), read_outboxes(paths, "main"):
        pass
