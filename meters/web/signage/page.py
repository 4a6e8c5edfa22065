"""The signage pages: whole on their first paint, and kept current by `signage.js` from then on."""

from datetime import UTC, datetime
from html import escape
from typing import Final, Literal
from zoneinfo import ZoneInfo

from litestar import MediaType, Response, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response import Redirect

from bonus.display import money, wager_text
from meters.displays.display_state import DisplayState, JackpotRow, MeterRow
from meters.floor.floor_file import Floor, Link, Meter
from meters.floor.logo import Logo, read_logo
from meters.http.static_files import Assets
from meters.web.paytable.hand_text import winners_of
from meters.web.signage.markup import DEMONSTRATION, FOOT, LOGO, METER, NOTE, PAGE, SECTION

_DIGITS_LEAST: Final = 6
_DIGITS_MOST: Final = 12
_A_YEAR: Final = "public, max-age=31536000, immutable"

Shown = Literal["live", "closed", "unavailable"]
"""A meter that plays, one that stands but takes no wagers, one without a current number."""


def page_routes(floor: Floor, board: DisplayState, assets: Assets) -> list[HTTPRouteHandler]:
    """The pages for patrons.

    Raises:
        UserError: the facility's logo cannot be shown.
    """
    by_id = {link.id: link for link in floor.link}
    logo = read_logo(floor.signage)

    @get("/", include_in_schema=False, sync_to_thread=False)
    def go_to_signage() -> Redirect:
        return Redirect("/signage")

    @get("/signage", media_type=MediaType.HTML, include_in_schema=False, sync_to_thread=False)
    def show_floor() -> str:
        return Signage(floor, board, assets.version, logo).page(floor.link, None)

    @get(
        "/signage/{link:str}",
        media_type=MediaType.HTML, include_in_schema=False, sync_to_thread=False,
    )  # fmt: skip
    def show_link(link: FromPath[str]) -> str:
        if link not in by_id:
            raise NotFoundException(f"there is no link {link}: there are {', '.join(by_id)}")
        return Signage(floor, board, assets.version, logo).page((by_id[link],), link)

    @get("/signage/logo/{version:str}", include_in_schema=False, sync_to_thread=False)
    def send_logo(version: FromPath[str]) -> Response[bytes]:
        if logo is None or version != assets.version:
            raise NotFoundException("there is no such file")
        return Response(logo.body, media_type=logo.media_type, headers={"Cache-Control": _A_YEAR})

    return [go_to_signage, show_floor, show_link, send_logo]


class Signage:
    """One page as it is at this moment; `signage.js` makes the same of what it is told later."""

    def __init__(self, floor: Floor, board: DisplayState, version: str, logo: Logo | None) -> None:
        self._floor = floor
        self._board = board
        self._look = floor.signage
        self._version = version
        self._logo = logo
        self._rows = {(row.link, row.meter): row for row in board.rows()}
        self._links = {row.link: row for row in board.links()}
        self._hits = _by_meter(board.hits())
        self._validated = _by_meter(board.validated())

    def page(self, links: tuple[Link, ...], watched: str | None) -> str:
        """The page of some links, which follows the events of `watched`, or of all."""
        facility = escape(self._floor.facility.name)
        words = self._look.wording
        shown = [self._board.in_force(link) for link in links if link.meter]
        sections = "\n".join(self._section(link) for link in shown)
        nothing = "" if shown else '<p class="nothing">No progressive is offered here.</p>'
        stream = "/api/v1/meters/stream" + (f"?link={escape(watched)}" if watched else "")
        now = datetime.now(ZoneInfo(self._floor.facility.timezone))
        return PAGE.format(
            version=self._version, facility=facility, stream=stream,
            title=escape(links[0].name if watched else self._look.title),
            ground=self._look.ground, rotate=self._look.rotate,
            seconds=self._look.rotate_seconds, celebrate=self._look.celebrate_from,
            jackpot=escape(words.jackpot), pending=escape(words.pending),
            validated=escape(words.validated), unavailable=escape(words.unavailable),
            closed=escape(words.closed),
            demonstration=DEMONSTRATION if self._floor.facility.demonstration else "",
            house=LOGO.format(version=self._version, facility=facility) if self._logo else facility,
            sections=sections or nothing, links=min(len(shown), 4), all=len(shown),
            foot=FOOT.format(foot=escape(words.foot)) if words.foot else "",
            time=f"{now:%H:%M:%S}",
            instant=escape(datetime.now(UTC).isoformat(timespec="seconds")),
        )  # fmt: skip

    def _section(self, link: Link) -> str:
        row = self._links.get(link.id)
        return SECTION.format(
            link=escape(link.id), name=escape(link.name),
            state="inoperable" if row is None else row.state, age=0 if row is None else row.age_ms,
            count=min(len(link.meter), 6), digits=self._digits(link),
            meters="\n".join(self._meter(link, meter) for meter in link.meter),
        )  # fmt: skip

    def _digits(self, link: Link) -> int:
        """How many digits the widest amount of a link has: all its amounts are drawn as large."""
        amounts = [row.amount for row in self._rows.values() if row.link == link.id]
        return min(max(_DIGITS_LEAST, *map(len, map(str, amounts)), 0), _DIGITS_MOST)

    def _shown(self, row: MeterRow | None) -> Shown:
        """How a meter is shown; the money of a closed link is there still, and its number true."""
        link = self._links.get(row.link) if row is not None else None
        states = {row.state if row is not None else "", link.state if link is not None else ""}
        if row is None or link is None or "inoperable" in states:
            return "unavailable"
        return "closed" if "closed" in states else "live"

    def _meter(self, link: Link, meter: Meter) -> str:
        row = self._rows.get((link.id, meter.meter_id))
        shown = self._shown(row)
        amount = money(row.amount) if row is not None and shown != "unavailable" else ""
        key = (link.id, meter.meter_id)
        news = [*self._hits.get(key, ()), *self._validated.get(key, ())]
        words = self._look.wording
        label = f"{amount} {words.closed}" if shown == "closed" else amount or words.unavailable
        return METER.format(
            meter=escape(meter.meter_id), title=escape(meter.title),
            wager=escape(wager_text(row.wager if row else meter.wager)), state=shown,
            wins=escape(winners_of(meter)),
            row=_row_attributes(row),
            known=escape(" ".join(hit.claim for hit in news if hit.news_ms)),
            label=escape(label), glyphs=_glyphs(amount),
            closed=escape(words.closed), unavailable=escape(words.unavailable),
            note=self._note(row) if row is not None and amount else NOTE.format(*3 * [""]),
        )  # fmt: skip

    def _note(self, row: MeterRow) -> str:
        """What is pending, the highest first, or what was validated a moment ago (duty D8)."""
        words = self._look.wording
        key = (row.link, row.meter)
        if hits := self._hits.get(key):
            first = max(hits, key=lambda hit: hit.amount)
            more = f" · 1 of {len(hits)}" if len(hits) > 1 else ""
            return NOTE.format("pending", escape(words.pending), escape(_won(first) + more))
        if good := self._validated.get(key):
            return NOTE.format("validated", escape(words.validated), escape(_won(good[-1])))
        if row.state == "pending":
            return NOTE.format("pending", escape(words.pending), "A win is being verified")
        return NOTE.format(*3 * [""])


def _by_meter(hits: list[JackpotRow]) -> dict[tuple[str, str], list[JackpotRow]]:
    found: dict[tuple[str, str], list[JackpotRow]] = {}
    for hit in hits:
        found.setdefault((hit.link, hit.meter), []).append(hit)
    return found


def _won(hit: JackpotRow) -> str:
    return f"Table {hit.table} wins {money(hit.amount)}"


def _row_attributes(row: MeterRow | None) -> str:
    if row is None:
        return ""
    return (
        f'data-amount="{row.amount}" data-version="{row.version}" data-cycle="{row.cycle}" '
        f'data-is="{row.state}" data-wager="{row.wager}"'
    )


def _glyphs(amount: str) -> str:
    """Each sign of an amount as the style sheet draws it."""
    names = {"$": "dollar", ",": "comma", ".": "point"}
    return "".join(
        f'<span class="digit" data-d="{sign}"><i></i></span>'
        if sign.isdigit()
        else f'<span class="{names[sign]}"></span>'
        for sign in amount
    )
