"""Files of pages: templates, and static files, whose paths have a digest of all static files."""

import functools
import gzip
import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath
from typing import Final, Self, get_args

import msgspec
from jinja2 import Environment, PackageLoader, StrictUndefined, Template
from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from markupsafe import Markup

from meters.floor.branding import Language
from meters.floor.media_files import MEDIA_TYPES
from meters.floor.translations import translations
from meters.http.strict_requests import WebRequest

SHARED: Final = "meters.http"

GUARD: Final = files(SHARED).joinpath("guard.js").read_text(encoding="utf-8")
"""The only script inside the pages of templates. Their other scripts are files of the server."""

_GUARD_ELEMENT: Final = Markup(f"<script>{GUARD}</script>")  # noqa: S704  (our own file)
A_YEAR: Final = "public, max-age=31536000, immutable"
"""`Cache-Control` of a file whose path changes with its contents."""

_MEDIA_TYPES: Final[Mapping[str, str]] = {
    **MEDIA_TYPES,
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".json": "application/json",
}
_PACKED: Final = frozenset({".css", ".js", ".json"})
_PLAYED: Final = frozenset({".webm", ".mp4", ".mp3", ".ogg"})
_RANGE: Final = re.compile(r"bytes=(\d{1,18})-(\d{0,18})|bytes=-(\d{1,18})")
_COMMENT: Final = re.compile(rb"^[ \t]*/\*(?!!).*?\*/[ \t]*\n", re.DOTALL | re.MULTILINE)
"""A comment that fills whole lines. Browsers do not get it, unless it is a license (``/*!``)."""


@dataclass(frozen=True, slots=True)
class Assets:
    version: str
    bodies: Mapping[str, bytes]

    @classmethod
    def load(cls, packages: Sequence[str]) -> Self:
        """Return the files in the `assets` folders of packages, and in the `fonts` folders there.

        Two files must not have the same name. For each language, there is also a file with
        translations of the texts for staff (`say.js`) and of the names of hands.
        """
        bodies = {
            each.name: _sent(each.name, each.read_bytes())
            for package in packages
            for folder in (files(package) / "assets", files(package) / "assets" / "fonts")
            if folder.is_dir()
            for each in sorted(folder.iterdir(), key=lambda file: file.name)
            if PurePath(each.name).suffix in _MEDIA_TYPES
        }
        for language in get_args(Language):
            bodies[f"staff_{language}.json"] = _translations(packages, language)
        digest = hashlib.sha256(b"\0".join(bodies.values()))
        return cls(digest.hexdigest()[:12], bodies)


def _translations(packages: Sequence[str], language: Language) -> bytes:
    sentences: dict[str, str] = {}
    for package in packages:
        sentences |= translations(package, language)
    hands = translations("meters.floor", language, "hand")
    return msgspec.json.encode({"sentences": sentences, "hands": hands})


def _sent(name: str, body: bytes) -> bytes:
    return body if name.endswith(".woff2") else _COMMENT.sub(b"", body)


@functools.cache
def _packed(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


def asset_route(assets: Assets) -> HTTPRouteHandler:
    packed = {
        name: _packed(body)
        for name, body in assets.bodies.items()
        if PurePath(name).suffix in _PACKED
    }

    # The path has the version, so relative addresses in style sheets have it too.
    @get("/assets/{version:str}/{name:str}", include_in_schema=False, sync_to_thread=False)
    def send_asset(
        request: WebRequest, version: FromPath[str], name: FromPath[str]
    ) -> Response[bytes]:
        if name not in assets.bodies or version != assets.version:
            raise NotFoundException("there is no such file")
        body, headers = assets.bodies[name], {"Cache-Control": A_YEAR}
        if name in packed:
            headers["Vary"] = "Accept-Encoding"
            if "gzip" in request.headers.get("accept-encoding", ""):
                body = packed[name]
                headers["Content-Encoding"] = "gzip"
        media_type, asked = _MEDIA_TYPES[PurePath(name).suffix], None
        if PurePath(name).suffix in _PLAYED:
            headers["Accept-Ranges"] = "bytes"
            asked = _RANGE.fullmatch(request.headers.get("range", ""))
        if asked is None:
            return Response(body, media_type=media_type, headers=headers)
        return _part_of(body, asked, media_type, headers)

    return send_asset


def _part_of(
    body: bytes, asked: re.Match[str], media_type: str, headers: dict[str, str]
) -> Response[bytes]:
    """Return the part of a file that a browser asks for.

    From a server that cannot send parts, Safari plays no video or sound.
    """
    size = len(body)
    begin, end, last = asked.groups()
    if last is None:
        first, after = int(begin), min(int(end or size) + 1, size)
    else:
        first, after = max(0, size - int(last)), size
    if first >= after:
        return Response(b"", status_code=416, headers={"Content-Range": f"bytes */{size}"})
    headers["Content-Range"] = f"bytes {first}-{after - 1}/{size}"
    return Response(body[first:after], status_code=206, media_type=media_type, headers=headers)


def load_template(package: str, name: str) -> Template:
    """Return a template of a package. Values are escaped; a missing value is an error.

    The value `guard` is a script. If a file of the page cannot be loaded, the script loads the page
    again.
    """
    environment = Environment(
        loader=PackageLoader(package, ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        keep_trailing_newline=True,
    )
    environment.globals["guard"] = _GUARD_ELEMENT
    return environment.get_template(name)
