"""Static files of pages. Their path contains a version, which changes with the contents."""

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
"""Package with the files that the service's pages and the panels share."""

_MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
_COMMENT: Final = re.compile(rb"^[ \t]*/\*(?!!).*?\*/[ \t]*\n", re.DOTALL | re.MULTILINE)
"""Comment that fills whole lines, for people who read the source: browsers do not get it.

A comment with ``/*!`` is a license and is sent.
"""
_A_YEAR: Final = "public, max-age=31536000, immutable"


@dataclass(frozen=True, slots=True)
class Assets:
    version: str
    bodies: Mapping[str, bytes]

    @classmethod
    def load(cls, packages: Sequence[str]) -> Self:
        """Return the files in the `assets` folders of packages. Their names must be unique."""
        bodies = {
            each.name: _COMMENT.sub(b"", each.read_bytes())
            for package in packages
            for each in sorted((files(package) / "assets").iterdir(), key=lambda file: file.name)
            if PurePath(each.name).suffix in _MEDIA_TYPES
        }
        digest = hashlib.sha256(b"\0".join(bodies.values()))
        return cls(digest.hexdigest()[:12], bodies)


def asset_route(assets: Assets) -> HTTPRouteHandler:
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
