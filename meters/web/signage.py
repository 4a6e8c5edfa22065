"""The signage pages. The service sends a page with current data, and `signage.js` updates it.

Some show players what each hand wins (duty D1), with a paytable under each meter:
`/signage/LINK/pays` has all meters of a link, `/signage/LINK/pays/TABLE` only those of one table,
as its game pays.
"""

import hashlib
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple
from zoneinfo import ZoneInfo

import msgspec
from litestar import MediaType, Response, get
from litestar.exceptions import NotFoundException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath
from litestar.response import Redirect

from bonus.display import money, short_money, wager_text
from meters.floor.branding import Logo, read_logo
from meters.floor.facility import DEMONSTRATION_MARK
from meters.floor.floor_file import Floor, Link, Meter
from meters.floor.paytable_text import pays_of, winners_of
from meters.http.page_files import A_YEAR, load_template
from meters.web.display_state import DisplayState, JackpotRow, MeterRow

_DIGITS_LEAST: Final = 6
_DIGITS_MOST: Final = 12
_TEMPLATE: Final = load_template("meters.web", "signage_page.html")

Shown = Literal["live", "closed", "unavailable"]
"""State of a meter: ``closed`` keeps its money, ``unavailable`` has no known amount."""


class _Note(NamedTuple):
    kind: str = ""
    heading: str = ""
    text: str = ""


def signage_routes(
    floor: Floor, displays: DisplayState, page_version: str
) -> list[HTTPRouteHandler]:
    """Declare the routes for patrons; raise `UserError` if the logo cannot be shown."""
    logo = read_logo(floor.signage)

    def signage() -> Signage:
        return Signage(floor, displays, page_version, logo)

    @get("/")
    async def go_to_signage() -> Redirect:
        return Redirect("/signage")

    @get("/signage", media_type=MediaType.HTML)
    async def show_floor() -> str:
        return signage().page(tuple(map(displays.in_force, floor.link)), None)

    @get("/signage/{link:str}", media_type=MediaType.HTML)
    async def show_link(link: FromPath[str]) -> str:
        page = signage()
        return page.page((page.find(link),), link)

    @get("/signage/{link:str}/pays", media_type=MediaType.HTML)
    async def show_pays(link: FromPath[str]) -> str:
        page = signage()
        return page.paytables(page.find(link))

    @get("/signage/{link:str}/pays/{table:str}", media_type=MediaType.HTML)
    async def show_pays_of_table(link: FromPath[str], table: FromPath[str]) -> str:
        page = signage()
        return page.paytables(_of_table(page.find(link), table), table)

    @get("/signage/logo/{version:str}")
    async def send_logo(version: FromPath[str]) -> Response[bytes]:
        if logo is None or version != page_version:
            raise NotFoundException("there is no such file")
        return Response(logo.body, media_type=logo.media_type, headers={"Cache-Control": A_YEAR})

    return [go_to_signage, show_floor, show_link, show_pays, show_pays_of_table, send_logo]


def _of_table(link: Link, table: str) -> Link:
    """Return a link with only the meters of one table, as its game pays."""
    tables = {each.id: each for each in link.table}
    if table not in tables:
        raise NotFoundException(
            f"link {link.id} has no table {table}: its tables are {', '.join(tables)}"
        )
    meters = tuple(
        msgspec.structs.replace(meter, fed_in=(tables[table].game,))
        for meter in link.meter
        if meter.meter_id in tables[table].meters
    )
    return msgspec.structs.replace(link, meter=meters)


class Signage:
    """One signage page; `signage.js` applies later changes by the same rules."""

    def __init__(
        self, floor: Floor, displays: DisplayState, version: str, logo: Logo | None
    ) -> None:
        self._floor = floor
        self._displays = displays
        self._branding = floor.signage
        self._version = version
        self._logo = logo
        self._rows = {(row.link, row.meter): row for row in displays.rows()}
        self._links = {row.link: row for row in displays.links()}
        self._hits = _by_meter(displays.pending_jackpots())
        self._validated = _by_meter(displays.validated())

    def find(self, link: str) -> Link:
        """Return a link with its present terms; raise `NotFoundException` if there is none."""
        by_id = {each.id: each for each in self._floor.link}
        if link not in by_id:
            raise NotFoundException(f"there is no link {link}: there are {', '.join(by_id)}")
        return self._displays.in_force(by_id[link])

    def paytables(self, link: Link, table: str = "") -> str:
        """Return the HTML of the page with a link's paytables."""
        shown = [(meter.meter_id, meter.title, meter.limit, pays_of(meter)) for meter in link.meter]
        digest = hashlib.sha256(msgspec.json.encode(shown)).hexdigest()[:12]
        return self.page((link,), link.id, terms=f"{self._version}-{digest}", table=table)

    def page(
        self, links: tuple[Link, ...], watched: str | None, *, terms: str = "", table: str = ""
    ) -> str:
        """Return the HTML of the page for links with their present terms.

        It follows the link `watched`, or else all. With `terms`, a digest of the paytables, it also
        shows these, for one `table` if it is given.
        """
        facility = self._floor.facility
        return _TEMPLATE.render(
            version=self._version,
            facility=facility,
            look=self._branding,
            words=self._branding.wording,
            logo=self._logo is not None,
            mark=DEMONSTRATION_MARK,
            title=links[0].name if watched else self._branding.title,
            stream="/api/v1/meters/stream" + (f"?link={watched}" if watched else ""),
            links=[self._link(link) for link in links if link.meter],
            terms=terms,
            table=table,
            time=f"{datetime.now(ZoneInfo(facility.timezone)):%H:%M:%S}",
            instant=datetime.now(UTC).isoformat(timespec="seconds"),
        )

    def _link(self, link: Link) -> dict[str, object]:
        row = self._links.get(link.id)
        return {
            "id": link.id,
            "name": link.name,
            "state": "inoperable" if row is None else row.state,
            "age_ms": 0 if row is None else row.age_ms,
            "digits": self._digits(link),
            "meters": [self._meter(link, meter) for meter in link.meter],
        }

    def _digits(self, link: Link) -> int:
        """Return how many digits of cents must fit in the size of a link's amounts, 6 to 12."""
        amounts = [row.amount for row in self._rows.values() if row.link == link.id]
        return min(max(_DIGITS_LEAST, *map(len, map(str, amounts)), 0), _DIGITS_MOST)

    def _shown(self, row: MeterRow | None) -> Shown:
        link = self._links.get(row.link) if row is not None else None
        states = {row.state if row is not None else "", link.state if link is not None else ""}
        if row is None or link is None or "inoperable" in states:
            return "unavailable"
        return "closed" if "closed" in states else "live"

    def _meter(self, link: Link, meter: Meter) -> dict[str, object]:
        key = (link.id, meter.meter_id)
        row = self._rows.get(key)
        shown = self._shown(row)
        amount = money(row.amount) if row is not None and shown != "unavailable" else ""
        news = [*self._hits.get(key, ()), *self._validated.get(key, ())]
        words = self._branding.wording
        label = f"{amount} {words.closed}" if shown == "closed" else amount or words.unavailable
        limit = f" · up to {short_money(meter.limit)}" if meter.limit else ""
        return {
            "meter_id": meter.meter_id,
            "title": meter.title,
            "wager": wager_text(row.wager if row else meter.wager) + limit,
            "wins": winners_of(meter),
            "pays": pays_of(meter),
            "shown": shown,
            "known": " ".join(hit.claim for hit in news if hit.news_ms),
            "row": row,
            "amount": amount,
            "label": label,
            "note": self._note(row) if row is not None and amount else _Note(),
        }

    def _note(self, row: MeterRow) -> _Note:
        """Return the text next to a meter about its highest waiting win, or its last one (D8)."""
        words = self._branding.wording
        key = (row.link, row.meter)
        if hits := self._hits.get(key):
            first = max(hits, key=lambda hit: hit.amount)
            more = f" · 1 of {len(hits)}" if len(hits) > 1 else ""
            return _Note("pending", words.pending, _won(first) + more)
        if good := self._validated.get(key):
            return _Note("validated", words.validated, _won(good[-1]))
        if row.state == "pending":
            return _Note("pending", words.pending, "A win is being verified")
        return _Note()


def _by_meter(hits: list[JackpotRow]) -> dict[tuple[str, str], list[JackpotRow]]:
    found: dict[tuple[str, str], list[JackpotRow]] = {}
    for hit in hits:
        found.setdefault((hit.link, hit.meter), []).append(hit)
    return found


def _won(hit: JackpotRow) -> str:
    return f"Table {hit.table} wins {money(hit.amount)}"
