"""Static files of pages, under a path that changes with their contents."""

import hashlib
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from importlib.resources import files
from pathlib import PurePath
from typing import Final, Self

from litestar import Response, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath

SHARED: Final = "meters.http"
"""The package with the files of both sides: cards, buttons, common styles."""

_MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_COMMENT: Final = re.compile(rb"^[ \t]*/\*.*?\*/[ \t]*\n", re.DOTALL | re.MULTILINE)
"""A comment on lines of its own. It is for readers of the source and is not sent to browsers."""
_A_YEAR: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Assets:
    """The files of pages, and a version calculated from their contents."""

    version: str
    bodies: Mapping[str, bytes]

    @classmethod
    def load(cls, packages: Sequence[str]) -> Self:
        """Read the `assets` folders of packages; no two folders have a file of the same name."""
        bodies = {
            each.name: _COMMENT.sub(b"", each.read_bytes())
            for package in packages
            for each in sorted((files(package) / "assets").iterdir(), key=lambda file: file.name)
            if PurePath(each.name).suffix in _MEDIA_TYPES
        }
        digest = hashlib.sha256(b"\0".join(bodies.values()))
        return cls(digest.hexdigest()[:12], bodies)


def asset_route(assets: Assets) -> HTTPRouteHandler:
    """Declare the route that serves the files."""

    # The version is in the path, so relative addresses in style sheets have it too.
    @get("/assets/{version:str}/{name:str}", include_in_schema=False, sync_to_thread=False)
    def send_asset(version: FromPath[str], name: FromPath[str]) -> Response[bytes]:
        if name not in assets.bodies or version != assets.version:
            raise NotFoundException("there is no such file")
        return Response(
            assets.bodies[name],
            media_type=_MEDIA_TYPES[PurePath(name).suffix],
            headers={"Cache-Control": _A_YEAR},
        )

    return send_asset
