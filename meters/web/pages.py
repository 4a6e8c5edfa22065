"""The signage pages: whole on their first paint, and kept current by `signage.js` from then on."""

from datetime import UTC, datetime
from html import escape
from typing import Final
from zoneinfo import ZoneInfo

from litestar import MediaType, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response import Redirect

from meters.board import Board, HitRow, MeterRow
from meters.wire.floor import Floor, Link, Meter
from meters.wire.pages.files import Assets
from meters.wire.pages.words import money, wager_text

UNAVAILABLE: Final = "Temporarily unavailable"

_DIGITS_LEAST: Final = 6
_DIGITS_MOST: Final = 12


def page_routes(floor: Floor, board: Board, assets: Assets) -> list[HTTPRouteHandler]:
    """The pages for patrons."""
    by_id = {link.id: link for link in floor.link}

    @get("/", include_in_schema=False, sync_to_thread=False)
    def go_to_signage() -> Redirect:
        return Redirect("/signage")

    @get("/signage", media_type=MediaType.HTML, include_in_schema=False, sync_to_thread=False)
    def show_floor() -> str:
        return Signage(floor, board, assets.version).page(floor.link, None)

    @get(
        "/signage/{link:str}",
        media_type=MediaType.HTML, include_in_schema=False, sync_to_thread=False,
    )  # fmt: skip
    def show_link(link: FromPath[str]) -> str:
        if link not in by_id:
            raise NotFoundException(f"there is no link {link}: there are {', '.join(by_id)}")
        return Signage(floor, board, assets.version).page((by_id[link],), link)

    return [go_to_signage, show_floor, show_link]


class Signage:
    """One page as it is at this moment; `signage.js` makes the same of what it is told later."""

    def __init__(self, floor: Floor, board: Board, version: str) -> None:
        self._floor = floor
        self._version = version
        self._rows = {(row.link, row.meter): row for row in board.rows()}
        self._operable = {row.link for row in board.links() if row.state == "operable"}
        self._hits: dict[tuple[str, str], list[HitRow]] = {}
        for hit in board.hits():
            self._hits.setdefault((hit.link, hit.meter), []).append(hit)

    def page(self, links: tuple[Link, ...], watched: str | None) -> str:
        """The page of some links, which follows the events of `watched`, or of all."""
        facility = escape(self._floor.facility.name)
        title = escape(links[0].name) if watched else "Progressive Jackpots"
        shown = [link for link in links if link.meter]
        sections = "\n".join(self._section(link) for link in shown)
        nothing = "" if shown else '<p class="nothing">No progressive is offered here.</p>'
        stream = "/api/v1/meters/stream" + (f"?link={escape(watched)}" if watched else "")
        now = datetime.now(ZoneInfo(self._floor.facility.timezone))
        return _PAGE.format(
            version=self._version, title=title, facility=facility, stream=stream,
            sections=sections or nothing, links=min(len(shown), 4), time=f"{now:%H:%M:%S}",
            instant=escape(datetime.now(UTC).isoformat(timespec="seconds")),
        )  # fmt: skip

    def _section(self, link: Link) -> str:
        meters = "\n".join(self._meter(link, meter) for meter in link.meter)
        state = "live" if link.id in self._operable else "unavailable"
        return _SECTION.format(
            link=escape(link.id), name=escape(link.name), state=state,
            count=min(len(link.meter), 6), meters=meters, digits=self._digits(link),
        )  # fmt: skip

    def _digits(self, link: Link) -> int:
        """How many digits the widest amount of a link has: all its amounts are drawn as large."""
        amounts = [row.amount for row in self._rows.values() if row.link == link.id]
        return min(max(_DIGITS_LEAST, *map(len, map(str, amounts)), 0), _DIGITS_MOST)

    def _meter(self, link: Link, meter: Meter) -> str:
        row = self._rows.get((link.id, meter.meter_id))
        hits = self._hits.get((link.id, meter.meter_id), [])
        live = row is not None and link.id in self._operable and row.state in {"open", "pending"}
        amount = money(row.amount) if row is not None and live else ""
        return _METER.format(
            meter=escape(meter.meter_id), title=escape(meter.title),
            wager=escape(wager_text(meter.wager)), state="live" if live else "unavailable",
            row=_row_attributes(row), label=amount or UNAVAILABLE, glyphs=_glyphs(amount),
            unavailable=UNAVAILABLE,
            note=_note(row, hits) if live else "",
        )  # fmt: skip


def _row_attributes(row: MeterRow | None) -> str:
    if row is None:
        return ""
    return (
        f'data-amount="{row.amount}" data-version="{row.version}" data-cycle="{row.cycle}" '
        f'data-is="{row.state}"'
    )


def _glyphs(amount: str) -> str:
    """Each sign of an amount as the style sheet draws it."""
    names = {"$": "dollar", ",": "comma", ".": "point"}
    cents = len(amount) - 3
    return "".join(
        f'<span class="digit{" cent" if at > cents else ""}" data-d="{sign}"><i></i></span>'
        if sign.isdigit()
        else f'<span class="{names[sign]}"></span>'
        for at, sign in enumerate(amount)
    )


def _note(row: MeterRow | None, hits: list[HitRow]) -> str:
    """What is pending: the highest of the open hits, and how many more there are (duty D8)."""
    if hits:
        first = max(hits, key=lambda hit: hit.amount)
        more = f" · {len(hits) - 1} more" if len(hits) > 1 else ""
        return escape(f"Table {first.table} wins {money(first.amount)}{more}")
    return "A win is being verified" if row is not None and row.state == "pending" else ""


_PAGE: Final = """\
<!doctype html>
<html lang="en" data-version="{version}" data-stream="{stream}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="dark">
<meta name="theme-color" content="#0a0d0b">
<title>{title} · {facility}</title>
<link rel="stylesheet" href="/assets/{version}/signage.css">
<link rel="icon" href="/assets/{version}/dollar.svg" type="image/svg+xml">
<script src="/assets/{version}/signage.js" defer></script>
</head>
<body>
<header class="mast">
<p class="facility">{facility}</p>
<h1>{title}</h1>
<p class="pulse" role="status">\
As of <time datetime="{instant}">{time}</time></p>
</header>
<main class="floor" data-links="{links}">
{sections}
</main>
</body>
</html>
"""

_SECTION: Final = """\
<section class="link" data-link="{link}" data-state="{state}" data-count="{count}" \
data-digits="{digits}" aria-label="{name}">
<h2>{name}</h2>
<ul class="meters">
{meters}
</ul>
</section>"""

_METER: Final = """\
<li class="meter" data-meter="{meter}" data-state="{state}" {row}>
<div class="face">
<div class="name"><h3>{title}</h3><p class="wager">{wager}</p></div>
<div class="window">\
<p class="amount" role="img" aria-label="{label}">{glyphs}</p>\
<p class="unavailable" aria-hidden="true">{unavailable}</p></div>
<p class="note" role="status">{note}</p>
</div>
</li>"""
