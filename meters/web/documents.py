"""The documents as a site under ``/docs``, for people whose network has no way to the internet.

The build of a release puts the site into the package (``deploy/site/build``). An installation from
a checkout has the site only if the same build ran first. If not, one page says where the documents
are.
"""

import base64
import functools
import gzip
import hashlib
import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from litestar import MediaType, Response, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response import Redirect

from meters.http.page_files import A_YEAR
from meters.http.strict_requests import WebRequest

SITE: Final = Path(__file__).parent / "site"

_FIRST: Final = "index.html"
_MISSING: Final = "404.html"
_MEDIA_TYPES: Final[Mapping[str, str]] = {
    ".html": "text/html",
    ".css": "text/css",
    ".js": "text/javascript",
    ".json": "application/json",
    ".txt": "text/plain",
    ".py": "text/plain",
    ".svg": "image/svg+xml",
    ".png": "image/png",
    ".woff2": "font/woff2",
}
_PACKED: Final = frozenset({".html", ".css", ".js", ".json", ".svg"})
_VERSIONED: Final = re.compile(r"\.[0-9a-f]{8}\.min\.(?:js|css)$")
"""File names of the theme that contain a digest of the contents."""

_SCRIPT: Final = re.compile(r"<script(?P<attributes>[^>]*)>(?P<text>.*?)</script>", re.DOTALL)
_NO_SITE: Final = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>Documents of pitlink</title>
</head>
<body>
<h1>Documents of pitlink</h1>
<p>This installation comes from a checkout, where the documents are the files in
<code>deploy/docs</code>. To have the documents here, run
<code>deploy/site/build meters/web/site</code> in the checkout before the installation. The wheel,
the Debian package and the image of a release have the documents.</p>
</body>
</html>
"""


@dataclass(frozen=True, slots=True)
class SiteFile:
    body: bytes
    suffix: str
    headers: Mapping[str, str]


def read_site(directory: Path) -> dict[str, SiteFile]:
    """Return the files by their paths in the directory, which need not exist."""
    return {
        path.relative_to(directory).as_posix(): _file(path)
        for path in sorted(directory.rglob("*"))
        if path.suffix in _MEDIA_TYPES and path.is_file()
    }


def _file(path: Path) -> SiteFile:
    body = path.read_bytes()
    headers = {
        # A proxy may compress the file too, so the bytes can differ.
        "ETag": f'W/"{hashlib.sha256(body).hexdigest()[:16]}"',
        "Cache-Control": A_YEAR if _VERSIONED.search(path.name) else "no-cache",
    }
    if path.suffix in _PACKED:
        headers["Vary"] = "Accept-Encoding"
    if path.suffix == ".html":
        headers |= {"Content-Security-Policy": policy_of(body.decode()), "X-Frame-Options": "DENY"}
    return SiteFile(body, path.suffix, headers)


def policy_of(page: str) -> str:
    """Return the content security policy of a page.

    The page can run only its own scripts, and load only files of this server. Pictures in the
    theme's style sheet are ``data:`` addresses.
    """
    allowed = "".join(
        f" 'sha256-{base64.b64encode(hashlib.sha256(found['text'].encode()).digest()).decode()}'"
        for found in _SCRIPT.finditer(page)
        if "src=" not in found["attributes"] and "application/json" not in found["attributes"]
    )
    return (
        f"default-src 'none'; script-src 'self'{allowed}; style-src 'self'; img-src 'self' data:; "
        "font-src 'self'; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    )


@functools.cache
def _packed(body: bytes) -> bytes:
    return gzip.compress(body, mtime=0)


def document_routes(directory: Path = SITE) -> list[HTTPRouteHandler]:
    site = read_site(directory)

    @get("/docs", sync_to_thread=False)
    def show_documents() -> Redirect:
        return Redirect(f"/docs/{_FIRST}")

    # In a thread, because compressing the search index takes longer than a table should wait.
    @get("/docs/{name:path}", sync_to_thread=True)
    def send_document(request: WebRequest, name: FromPath[Path]) -> Response[bytes]:
        asked = name.as_posix().removeprefix("/")
        if not site and asked == _FIRST:
            return Response(_NO_SITE.encode(), media_type=MediaType.HTML)
        file = site.get(asked) or site.get(_MISSING)
        if file is None:
            raise NotFoundException("there is no such page")
        headers = dict(file.headers)
        status = 200
        if asked not in site:
            status = 404
            headers["Cache-Control"] = "no-store"
            del headers["ETag"]
        elif headers["ETag"] in request.headers.get("if-none-match", ""):
            return Response(b"", status_code=304, headers=headers)
        body = file.body
        if file.suffix in _PACKED and "gzip" in request.headers.get("accept-encoding", ""):
            body = _packed(body)
            headers["Content-Encoding"] = "gzip"
        return Response(
            body, status_code=status, media_type=_MEDIA_TYPES[file.suffix], headers=headers
        )

    return [show_documents, send_document]
