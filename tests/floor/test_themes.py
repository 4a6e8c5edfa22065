"""The folder of a house's theme: people can read it, and nothing hostile in it is shown."""

import os
import re
from pathlib import Path
from typing import Final

import pytest

from meters.floor.floor_file import FloorError, read_floor
from meters.floor.themes import SEEN, ThemeError, contrast, read_theme
from tests.floor_text import floor_text, link_text, meter_text, section_text

PNG: Final = b"\x89PNG\r\n\x1a\n" + bytes(40)
VIDEO: Final = b"\x1a\x45\xdf\xa3" + bytes(40)
FONT: Final = b"wOF2" + bytes(40)
SVG: Final = b'<svg xmlns="http://www.w3.org/2000/svg"><rect width="4" height="4"/></svg>'
METALS: Final = 'metals = ["#8a1420", "#14234b", "#3a5a2a"]\n'
LIGHT: Final = """\
colors = { ink = "#14234b", quiet = "#2a3350", accent = "#8a1420", stage = "#fdf6e8", \
glass = "#ffffff", closed = "#5a5a5a" }
"""


def folder(at: Path, text: str, **files: bytes) -> str:
    at.mkdir(exist_ok=True)
    (at / "theme.toml").write_text(text)
    for name, body in files.items():
        (at / name.replace("__", ".")).write_bytes(body)
    return str(at)


def test_a_folder_is_a_style_sheet_and_files_by_their_contents(tmp_path: Path) -> None:
    text = (
        'base = "classic"\nbackground = "wall.webm"\nfont = "title.woff2"\nsound = "win.ogg"\n'
        'metals = ["silver", "#ff8800"]\n[colors]\naccent = "#ffe08a"\n'
    )
    files = {"wall__webm": VIDEO, "title__woff2": FONT, "win__ogg": b"OggS" + bytes(9)}
    theme = read_theme(folder(tmp_path / "house", text, **files))
    assert (theme.base, theme.is_video) == ("classic", True)
    assert {*(theme.files or {}).values()} == {*files.values()}
    assert theme.background in (theme.files or {})
    assert theme.sound.endswith(".ogg")
    for rule in ("--ink-accent: #ffe08a;", "--r1-rim: var(--silver-rim);", '"House Title"'):
        assert rule in theme.sheet
    assert read_theme(folder(tmp_path / "house", text + "# same")).name == theme.name
    (tmp_path / "house" / "wall.webm").write_bytes(VIDEO + b"other")
    assert read_theme(str(tmp_path / "house")).name != theme.name, "an open display reloads"


def test_lesser_words_and_the_bar_follow_the_house_s_colors(tmp_path: Path) -> None:
    text = '[colors]\naccent = "#7fe8ff"\nstage = "#04203a"\n'
    sheet = read_theme(folder(tmp_path / "house", text)).sheet
    for rule in ("--ink-2: #d9f8ff;", "--bar: #020e1a;", "--card-back: #04203a;"):
        assert rule in sheet
    sheet = read_theme(folder(tmp_path / "house", f'{text}quiet = "#ffffff"\n')).sheet
    assert "--ink-2: #ffffff;" in sheet


@pytest.mark.parametrize(
    "text",
    [
        METALS + LIGHT,
        'base = "neon"\n[colors]\nstage = "#1b1464"\nink = "#ffffff"\naccent = "#ff6600"\n',
        '[colors]\npending = "#111111"\npending_ink = "#ffc83a"\nbar_ink = "#ffffff"\n',
    ],
    ids=["light", "dark", "plaques"],
)
def test_what_is_made_of_the_house_s_colors_can_be_read(tmp_path: Path, text: str) -> None:
    sheet = read_theme(folder(tmp_path / "house", text)).sheet
    made = {name: re.findall(r"#[0-9a-f]{6}", rule) for name, rule in
            re.findall(r"--([\w-]+): ([^;]*)", sheet)}  # fmt: skip
    for ground in (*made.get("stage", ()), *made.get("glass", ())):
        for ink in (*made.get("ink", ()), *made.get("ink-accent", ())):
            assert contrast(ink, ground) >= SEEN, (ink, ground)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[colors]\nink = "#804040"\n', "ink #804040 cannot be read on stage #84182a"),
        ('[colors]\nstage = "#ffffff"\n', "ink #ffffff cannot be read on stage #ffffff"),
        ('[colors]\nglass = "#808080"\n', "must be at least 4.5"),
        ('[colors]\nbar_ink = "#3a0912"\n', "bar_ink #3a0912 cannot be read on bar #3a0912"),
        ('[colors]\npending_ink = "#ffd000"\n', "pending_ink #ffd000 cannot be read on pending"),
        ('background = "a.png"\n[colors]\nquiet = "#9a8a6a"\n', "over its background: their"),
        (LIGHT, "amounts of rank 1, #f2a92b, cannot be seen"),
        (
            'metals = ["gold", "#3a0812"]\n',
            "amounts of rank 2, #3a0812, cannot be seen on glass #3a0812",
        ),
    ],
)
def test_colors_that_people_cannot_read_are_refused(tmp_path: Path, text: str, reason: str) -> None:
    named = folder(tmp_path / "house", text, a__png=PNG)
    with pytest.raises(ThemeError, match=re.escape(reason)):
        read_theme(named)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ('[colors]\nink = "white"\n', "theme.toml:2: ink is a color such as"),
        ('[colours]\nink = "#ffffff"\n', "theme.toml:1: there is no key colours here"),
        ('base = "golf"\n', "theme.toml:1: there is no base golf"),
        ('metals = ["gold", "tin"]\n', "theme.toml:1: metals has gold, silver, copper or a"),
        ('background = "../../secret"\n', "theme.toml:1: background names a file of"),
        ('background = "none.png"\n', "none.png cannot be read: No such file"),
        ('background = "inner"\n', "inner is not a file"),
        ('background = "b.html"\n', "b.html is not a PNG, WebP, JPEG or SVG picture or a WebM"),
        ('font = "a.png"\n', "a.png is not a WOFF2 font"),
        ('sound = "a.png"\n', "a.png is not an MP3 or Ogg sound"),
        ('font = "large.woff2"\n', "large.woff2 has 524289 bytes: at most 524288 are allowed"),
        ('background = "s.svg"\n', "s.svg contains a script: only drawings are allowed"),
        ('background = "out.png"\n', "out.png is a symbolic link out of its folder"),
        ('background = "pipe"\n', "pipe is not a file"),
        ("x" * 70_000, "theme.toml has 70000 bytes"),
    ],
    ids=lambda value: value[:30],
)
def test_a_hostile_or_wrong_folder_is_refused(tmp_path: Path, text: str, reason: str) -> None:
    named = folder(
        tmp_path / "house", text, a__png=PNG, b__html=b"<html></html>",
        large__woff2=FONT + bytes(524_289 - len(FONT)),
        s__svg=SVG.replace(b"<rect", b"<script/><rect"),
    )  # fmt: skip
    (tmp_path / "outside.png").write_bytes(PNG)
    (tmp_path / "house" / "out.png").symlink_to(tmp_path / "outside.png")
    (tmp_path / "house" / "inner").mkdir()
    os.mkfifo(tmp_path / "house" / "pipe")
    with pytest.raises(ThemeError, match=re.escape(reason)):
        read_theme(named)
    with pytest.raises(ThemeError, match="cannot be read: No such file"):
        read_theme(str(tmp_path / "nowhere"))


def test_a_link_has_its_own_theme_and_a_path_is_relative_to_the_floor_file(tmp_path: Path) -> None:
    def floor(theme: str) -> str:
        own = link_text("one", meter_text("progressive")).replace("\n", f'\ntheme = "{theme}"\n', 1)
        return floor_text(own, section_text("[signage]", theme="./house"))

    path = tmp_path / "floor.toml"
    path.write_text(floor("classic"))
    found = read_floor(path)
    assert found.signage.theme == str(tmp_path / "house")
    assert found.link[0].theme == "classic"
    path.write_text(floor("golf"))
    with pytest.raises(FloorError, match=r"toml:\d+: there is no theme golf: write gold, neon"):
        read_floor(path)
