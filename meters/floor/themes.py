"""Themes of displays: pitlink's own themes, and themes in folders of the house.

A folder has a `theme.toml`, and the files that this file names. All colors are checked, so patrons
can read every theme. Nothing in a folder can run: no scripts are allowed, and pitlink writes the
style sheet itself.
"""

import hashlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Final, Literal, get_args

import msgspec

from bonus.errors import UserError
from meters.floor.facility import Config
from meters.floor.media_files import active_part, suffix_of
from meters.floor.toml_errors import read_toml, text_of

BuiltIn = Literal["gold", "neon", "classic"]
BUILT_IN: Final[tuple[str, ...]] = get_args(BuiltIn)

READABLE: Final = 4.5
"""Lowest contrast of a text against its background (WCAG 2.2, 1.4.3)."""

SEEN: Final = 3.0
"""Lowest contrast of large text, and of graphics (WCAG 2.2, 1.4.11)."""

DIMMED: Final = 70
"""Opacity, in percent, of the dark color over a background. It makes texts readable."""

_MEBIBYTE: Final = 1 << 20
_FILE_BYTES_MAX: Final[Mapping[str, int]] = {
    "text": 64 * 1024, "background": 24 * _MEBIBYTE, "font": _MEBIBYTE // 2,
    "sound": 2 * _MEBIBYTE,
}  # fmt: skip
_BLACK: Final = "#000000"
_WHITE: Final = "#ffffff"

Color = Annotated[str, msgspec.Meta(pattern=r"\A#[0-9A-Fa-f]{6}\Z", description='`"#rrggbb"`')]
FileName = Annotated[
    str,
    msgspec.Meta(
        pattern=r"\A[A-Za-z0-9][A-Za-z0-9_.-]{0,63}\Z", description="a file of the folder"
    ),
]
Metal = Annotated[
    str,
    msgspec.Meta(
        pattern=r"\A(gold|silver|copper|#[0-9A-Fa-f]{6})\Z",
        description='`"gold"`, `"silver"`, `"copper"` or a color',
    ),
]


class ThemeColors(Config, frozen=True, kw_only=True):
    """Colors as ``#rrggbb``. A color that is missing comes from the base theme.

    Attributes:
        ink: names and hands.
        quiet: less important words. If you set `accent` but not `quiet`, these words have a color
            between `ink` and `accent`.
        accent: titles and signs.
        stage: behind everything; also dims the background.
        glass: behind an amount.
        bar: the line at the bottom. If you set `stage` but not `bar`, the line has a shade of
            `stage`, unless the words cannot be read on this shade.
        bar_ink: the words on the bar.
        pending: the plaque of a win that waits.
        pending_ink: the words on this plaque.
        verified: the plaque of a verified win.
        verified_ink: the words on this plaque.
        closed: an amount that nobody can win now, and the words about it.
    """

    ink: Color | None = None
    quiet: Color | None = None
    accent: Color | None = None
    stage: Color | None = None
    glass: Color | None = None
    bar: Color | None = None
    bar_ink: Color | None = None
    pending: Color | None = None
    pending_ink: Color | None = None
    verified: Color | None = None
    verified_ink: Color | None = None
    closed: Color | None = None


class ThemeFile(Config, frozen=True, kw_only=True):
    """The text of a `theme.toml`.

    Attributes:
        base: the theme that provides whatever is missing.
        background: a PNG, WebP, JPEG or SVG picture, or a WebM or MP4 video without sound, of at
            most 24 MiB. The background is dimmed until every text over it can be read.
        font: a WOFF2 font for titles and names of meters, of at most 512 KiB.
        sound: an MP3 or Ogg file for a win on the whole screen, of at most 2 MiB.
        metals: the metals of meters of the ranks 1, 2 and 3.
        colors: the colors that differ from those of the base theme.
    """

    base: BuiltIn = "gold"
    background: FileName | None = None
    font: FileName | None = None
    sound: FileName | None = None
    metals: Annotated[tuple[Metal, ...], msgspec.Meta(max_length=3)] = ()
    colors: ThemeColors = ThemeColors()


_BASES: Final[Mapping[str, ThemeColors]] = {
    "gold": ThemeColors(
        ink="#ffffff", quiet="#ffe3ad", accent="#ffd36b", stage="#84182a", glass="#3a0812",
        bar="#3a0912", bar_ink="#ffe9c2", pending="#ffc83a", pending_ink="#2c1400",
        verified="#b9efcf", verified_ink="#04301b", closed="#cbbfae",
    ),
    "neon": ThemeColors(
        ink="#ffffff", quiet="#d5defc", accent="#7df0ff", stage="#2a0f55", glass="#171042",
        bar="#14123c", bar_ink="#dfe6ff", pending="#ffd21f", pending_ink="#241600",
        verified="#9ff5c9", verified_ink="#02301a", closed="#aab4dc",
    ),
    "classic": ThemeColors(
        ink="#fdf6e3", quiet="#f0e2bd", accent="#f0cf80", stage="#1c6047", glass="#52291a",
        bar="#3d1d10", bar_ink="#f6e9cb", pending="#ecc24e", pending_ink="#2a1700",
        verified="#c5e8be", verified_ink="#0c3016", closed="#c9bfa6",
    ),
}  # fmt: skip
"""The colors of pitlink's themes. A dark surface has the color of its brightest part."""

_FLAT: Final[Mapping[str, str]] = {"gold": "#0d0206", "neon": "#060714", "classic": "#051b17"}
"""The darkest color of each stage. It dims a background."""

_FACES: Final[Mapping[str, str]] = {"gold": "#f2a92b", "silver": "#9db2c8", "copper": "#ee8f57"}
_BASE_FACES: Final[Mapping[str, tuple[str, str, str]]] = {
    "gold": ("#f2a92b", "#9db2c8", "#ee8f57"),
    "neon": ("#ffb3de", "#8fe9ff", "#ffe27a"),
    "classic": ("#f6ead0", "#f6ead0", "#f6ead0"),
}
"""The darkest color of the amounts of each rank. In ``classic``, amounts are on drums."""

_PAIRS: Final = (
    ("ink", "stage", READABLE), ("quiet", "stage", READABLE), ("accent", "stage", SEEN),
    ("ink", "glass", READABLE), ("quiet", "glass", READABLE), ("accent", "glass", SEEN),
    ("closed", "glass", READABLE), ("bar_ink", "bar", READABLE),
    ("pending_ink", "pending", READABLE), ("verified_ink", "verified", READABLE),
)  # fmt: skip


def theme_problem(named: str) -> str | None:
    """Return why a name in the floor file cannot be a theme; None if it can.

    The path of a folder is accepted: the folder is read later.
    """
    if named in BUILT_IN or "/" in named:
        return None
    known = ", ".join(BUILT_IN)
    return f"there is no theme {named}: write {known}, or the path of a folder, such as ./{named}"


class ThemeError(UserError):
    """Theme folder that cannot be used."""


@dataclass(frozen=True, slots=True)
class Theme:
    """A theme as pages use it.

    `name` is the name of the style sheet, and the attribute `data-theme` of the page. `files` has
    the contents of the files, by the names under which they are served. For a theme of pitlink,
    `sheet` is empty.
    """

    name: str
    base: str
    sheet: str = ""
    background: str = ""
    sound: str = ""
    files: Mapping[str, bytes] | None = None

    @property
    def is_video(self) -> bool:
        return self.background.endswith((".webm", ".mp4"))


def read_theme(named: str) -> Theme:
    """Return a theme by its name or by the path of its folder.

    Raises:
        ThemeError: the folder or one of its files cannot be used.
    """
    if named in BUILT_IN:
        return Theme(named, named)
    folder = Path(named)
    _, body = _read_part(folder, "text", "theme.toml")
    path = folder / "theme.toml"
    text, _, _ = read_toml(text_of(body, path, ThemeError), str(path), ThemeFile, ThemeError)
    for reason in _color_problems(text):
        raise ThemeError(f"{path}: {reason}")
    files = {key: _read_part(folder, key, name) for key, name in _named_files(text)}
    contents = b"".join(hashlib.sha256(body).digest() for _, body in files.values())
    digest = hashlib.sha256(repr((text, [*files])).encode() + contents).hexdigest()[:8]
    served = {key: f"theme_{digest}_{key}{suffix}" for key, (suffix, _) in files.items()}
    return Theme(
        name=digest,
        base=text.base,
        sheet=_sheet(text, served),
        background=served.get("background", ""),
        sound=served.get("sound", ""),
        files={served[key]: body for key, (_, body) in files.items()},
    )


def themes_of(floor_theme: str, link_themes: Iterable[str | None]) -> dict[str, Theme]:
    """Return every theme of a floor, by its name or path in the floor file."""
    names = dict.fromkeys((floor_theme, *(each for each in link_themes if each is not None)))
    return {name: read_theme(name) for name in names}


def _named_files(text: ThemeFile) -> Iterator[tuple[str, str]]:
    for key in _SUFFIXES:
        name: str | None = getattr(text, key)
        if name is not None:
            yield key, name


def _read_part(folder: Path, key: str, name: str) -> tuple[str, bytes]:
    path = folder / name
    most = _FILE_BYTES_MAX[key]
    try:
        # A symbolic link out of the folder could show any file of the machine.
        if not path.resolve(strict=True).is_relative_to(folder.resolve()):
            raise ThemeError(f"{path} is a symbolic link out of its folder")
        if not path.is_file():
            raise ThemeError(f"{path} is not a file")
        size = path.stat().st_size
        if size > most:
            raise ThemeError(f"{path} has {size} bytes: at most {most} are allowed")
        body = path.read_bytes()
    except OSError as error:
        raise ThemeError(f"{path} cannot be read: {error.strerror}") from None
    if key == "text":
        return ".toml", body
    suffix = suffix_of(body)
    wanted = _SUFFIXES[key]
    if suffix is None or suffix not in wanted:
        raise ThemeError(f"{path} is not {_WANTED[key]}")
    if suffix == ".svg" and (wrong := active_part(body)):
        raise ThemeError(f"{path} contains {wrong}: only drawings are allowed")
    return suffix, body


_SUFFIXES: Final[Mapping[str, frozenset[str]]] = {
    "background": frozenset({".svg", ".png", ".webp", ".jpg", ".webm", ".mp4"}),
    "font": frozenset({".woff2"}),
    "sound": frozenset({".mp3", ".ogg"}),
}
_WANTED: Final[Mapping[str, str]] = {
    "background": "a PNG, WebP, JPEG or SVG picture or a WebM or MP4 video",
    "font": "a WOFF2 font",
    "sound": "an MP3 or Ogg sound",
}


def _color_problems(text: ThemeFile) -> Iterator[str]:
    colors = _colors_of(text)
    for ink, ground, least in _PAIRS:
        grounds = {colors[ground]}
        if ground == "stage" and text.background is not None:
            flat = _FLAT[text.base]
            if text.colors.stage is not None:
                flat = _shaded(text.colors.stage, colors["ink"])
            grounds = {mixed(flat, each, 100 - DIMMED) for each in (_BLACK, _WHITE)}
        elif ground in {"stage", "glass"} and getattr(text.colors, ground) is not None:
            grounds.add(_shaded(colors[ground], colors["ink"]))
        for each in sorted(grounds):
            found = contrast(colors[ink], each)
            if found < least:
                # The ratio is rounded down. Rounded up, 4.46 would look like 4.5, which is enough.
                behind = " over its background" if ground == "stage" and text.background else ""
                yield (
                    f"{ink} {colors[ink]} cannot be read on {ground} {colors[ground]}{behind}:"
                    f" their contrast is {int(found * 10) / 10} to 1, and must be at least {least}"
                )
    metals = text.metals if text.base != "classic" else ()
    faces = (
        *(_FACES.get(metal, metal) for metal in metals),
        *_BASE_FACES[text.base][len(metals) :],
    )
    for rank, face in enumerate(faces, 1):
        if contrast(face, colors["glass"]) < SEEN:
            yield f"amounts of rank {rank}, {face}, cannot be seen on glass {colors['glass']}"


def _colors_of(text: ThemeFile) -> dict[str, str]:
    """Return all colors. Less important words and the bar follow the house's accent and stage."""
    own, base = text.colors, _BASES[text.base]
    colors: dict[str, str] = {
        key: getattr(own, key) or getattr(base, key) for key in ThemeColors.__struct_fields__
    }
    if own.accent and not own.quiet:
        colors["quiet"] = mixed(colors["ink"], own.accent, 30)
    bar = _shaded(colors["stage"], colors["bar_ink"])
    if own.stage and not own.bar and contrast(bar, colors["bar_ink"]) >= READABLE:
        colors["bar"] = bar
    return colors


def _shaded(surface: str, ink: str) -> str:
    """Return the other end of a surface's gradient, which differs more from the text's color."""
    return mixed(surface, _BLACK if _luminance(ink) > _luminance(surface) else _WHITE, 55)


def _sheet(text: ThemeFile, served: Mapping[str, str]) -> str:
    colors, all_colors, base = text.colors, _colors_of(text), _BASES[text.base]
    ink = all_colors["ink"]
    names = {
        "ink": "ink", "quiet": "ink-2", "accent": "ink-accent", "bar": "bar",
        "bar_ink": "bar-ink", "pending": "sign-pending", "pending_ink": "sign-pending-ink",
        "verified": "sign-verified", "verified_ink": "sign-verified-ink", "closed": "sign-closed",
    }  # fmt: skip
    rules = [
        f"--{token}: {all_colors[key]}"
        for key, token in names.items()
        if getattr(colors, key) or all_colors[key] != getattr(base, key)
    ]
    if colors.closed:
        rules.append(f"--sign-unavailable: {colors.closed}")
    if colors.accent:
        rules.append(f"--title-fill: linear-gradient({colors.accent}, {colors.accent})")
    if colors.stage:
        end = _shaded(colors.stage, ink)
        rules += [
            f"--stage: radial-gradient(80% 90% at 50% 34%, {colors.stage}, {end})",
            f"--stage-flat: {end}",
            f"--curtain: {colors.stage}; --curtain-lit: {mixed(colors.stage, _WHITE, 16)}",
            f"--curtain-dark: {end}",
            f"--card-back: {colors.stage}; --card-back-2: {all_colors['accent']}",
        ]
    if colors.glass:
        end = _shaded(colors.glass, ink)
        glass = f"radial-gradient(75% 120% at 50% 46%, {colors.glass}, {end})"
        rules += [f"--glass{number}: {glass}" for number in ("", "-2", "-3", "-4")]
        rules.append(f"--channel: linear-gradient({colors.glass}, {end})")
    for rank, metal in enumerate(text.metals, 1):
        rules += _metal(rank, metal, text.base, colors.glass or _BASES[text.base].glass or _BLACK)
    if "font" in served:
        rules.append(
            '--font-title: "House Title", "Archivo", "Chinese Words", sans-serif; --title-scale: 1'
        )
    if "background" in served:
        rules.append(f"--dim: {DIMMED}%")
    sheet = ""
    if "font" in served:
        sheet = (
            f'@font-face {{ font-family: "House Title"; src: url("{served["font"]}")'
            ' format("woff2"); font-display: swap; }\n'
        )
    return sheet + ":root {\n" + "".join(f"  {rule};\n" for rule in rules) + "}\n"


def _metal(rank: int, metal: str, base: str, glass: str) -> Iterator[str]:
    own = metal.startswith("#")
    if not own:
        yield f"--r{rank}-rim: var(--{metal}-rim)"
        yield f"--r{rank}-plate: var(--{metal}-plate)"
        if base != "classic":
            yield f"--r{rank}-num: var(--{metal}-face)"
        return
    light, dark = mixed(metal, _WHITE, 55), mixed(metal, _BLACK, 45)
    yield (
        f"--r{rank}-rim: conic-gradient(from 215deg, {light}, {metal} 6%, {dark} 14%, {metal} 22%,"
        f" {light} 27%, {metal} 34%, {dark} 44%, {metal} 52%, {light} 57%, {dark} 72%, {metal} 84%,"
        f" {light})"
    )
    on_light = _luminance(glass) > _luminance(metal)
    far = dark if on_light else mixed(metal, _WHITE, 85)
    if base != "classic":
        yield f"--r{rank}-num: linear-gradient({far} 14%, {metal} 90%)"
    plate, ink = f"{light}, {mixed(metal, _WHITE, 30)} 40%, {metal}", on(metal)
    if ink == _WHITE:
        plate = f"{metal}, {dark}"
    yield f"--r{rank}-plate: linear-gradient(176deg, {plate}); --r{rank}-plate-ink: {ink}"
    yield f"--r{rank}-accent: {metal if on_light else light}"
    yield f"--r{rank}-edge: {'transparent' if on_light else dark}; --r{rank}-glow: {metal}59"


def contrast(one: str, other: str) -> float:
    """Return the contrast of two colors, from 1 to 21, as WCAG defines it.

    >>> contrast("#000000", "#ffffff")
    21.0
    """
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def mixed(one: str, other: str, percent: int) -> str:
    """Return a color mixed with a percentage of another color.

    >>> mixed("#000000", "#ffffff", 50)
    '#808080'
    """
    parts = (
        (a * (100 - percent) + b * percent + 50) // 100
        for a, b in zip(_channels(one), _channels(other), strict=True)
    )
    return "#" + "".join(f"{part:02x}" for part in parts)


def on(ground: str) -> str:
    """Return the ink, black or white, that has more contrast with a color."""
    return max((_BLACK, _WHITE), key=lambda ink: contrast(ink, ground))


def _channels(colour: str) -> tuple[int, int, int]:
    red, green, blue = bytes.fromhex(colour[1:])
    return red, green, blue


def _luminance(colour: str) -> float:
    red, green, blue = (
        part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4
        for part in (channel / 255 for channel in _channels(colour))
    )
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue
