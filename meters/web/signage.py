"""The signage pages. The service sends a page with current data, and `signage.js` updates it.

The pages with paytables show players what each hand wins (duty D1), beside the live meters.
`/signage/LINK/pays` has all meters of a link. `/signage/LINK/pays/TABLE` has only the meters of one
table, with what its game pays.
"""

import functools
import hashlib
import math
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import UTC, datetime
from typing import Final, Literal, NamedTuple, get_args
from urllib.parse import urlencode

import msgspec
import segno
from litestar import MediaType, Response, get
from litestar.exceptions import HTTPException, NotFoundException, ValidationException
from litestar.handlers import HTTPRouteHandler
from litestar.params import FromPath, FromQuery
from litestar.response import Redirect
from markupsafe import Markup

from bonus.display import coin_money, money, short_money
from meters.floor.branding import (
    Branding,
    Language,
    Logo,
    Night,
    foot_lines,
    read_logo,
    text_width,
    unbroken,
)
from meters.floor.floor_file import FixedJackpot, Floor, Link, Meter
from meters.floor.patron_words import patron_words
from meters.floor.paytable_text import (
    fixed_winner_of,
    highest_envy,
    meters_by_wager,
    pays_of,
    ranks_of,
    winners_of,
)
from meters.floor.themes import Theme, themes_of
from meters.http.middleware import framed_by
from meters.http.page_files import load_template
from meters.http.strict_requests import WebRequest
from meters.web.display_state import DisplayState, JackpotRow, MeterRow
from meters.web.error_answers import ErrorBody, on_http_error, reasons_of
from meters.web.preview import Preview, PreviewDisplay

_ROOM_MOST: Final = 12
_LISTED_BESIDE: Final = 4
"""Up to this many meters and fixed jackpots, an upright page has room for a list of wins."""

_WITH_SHEETS: Final = frozenset({"vi", "zh-Hans"})
"""Languages that have a style sheet of their own, for their fonts."""

_WIDE_FROM: Final = "\u2e80"
_TEMPLATE: Final = load_template("meters.web", "signage_page.html")
_ADDRESSES: Final = load_template("meters.web", "signage_addresses.html")
_STAGE: Final = load_template("meters.web", "signage_stage.html")
_SIDES: Final = ("width", "height")
_ALL_DAY: Final = Night(starts="00:00", ends="24:00")
_PIXELS: Final = re.compile(r"[1-9][0-9]{1,4}")

Shown = Literal["live", "closed", "unavailable"]
"""State of a meter. ``closed``: it keeps its money. ``unavailable``: its amount is not known."""


class _Note(NamedTuple):
    kind: str = ""
    what: str = ""
    word: str = ""

    @property
    def chars(self) -> int:
        """The width of the text in steps of six letters. The style sheet uses it for font sizes.

        A Chinese character is as wide as 2.6 letters.
        """
        length = sum(2.6 if sign >= _WIDE_FROM else 1 for sign in self.what + self.word)
        return math.ceil(max(1, length) / 6) * 6


def _chars(*lines: str) -> int:
    """Return the width of the widest line, in steps of six letters, for the style sheet."""
    return math.ceil(max(1.0, *map(text_width, lines), 0.0) / 6) * 6


def signage_routes(
    floor: Floor, displays: DisplayState, page_version: str
) -> list[HTTPRouteHandler]:
    """Declare the routes for patrons, or raise `UserError` if the logo or a theme cannot be shown.

    Pages of the origins in the floor file can show these pages in frames.
    """
    logo = read_logo(floor.signage)
    themes = themes_of(floor.signage.theme, (link.theme for link in floor.link))

    def signage(lang: str | None, data: DisplayState = displays) -> Signage:
        languages = languages_of(floor.signage, lang)
        return Signage(floor, data, page_version, logo, themes, languages=languages)

    addresses = functools.partial(_addresses, floor, page_version)
    page_at = functools.partial(
        get,
        media_type=MediaType.HTML,
        response_headers=framed_by(floor.signage.frame_origins),
        before_request=_stage(floor.signage, page_version),
        exception_handlers={HTTPException: _listing(addresses)},
    )

    @get("/")
    async def go_to_signage() -> Redirect:
        return Redirect("/signage")

    @page_at("/signage")
    async def show_floor(
        transparent: FromQuery[str | None] = None,
        lang: FromQuery[str | None] = None,
        preview: FromQuery[str | None] = None,
    ) -> str:
        if preview is not None:
            return addresses()
        links = tuple(map(displays.in_force, floor.link))
        return signage(lang).page(links, None, transparent=transparent is not None)

    @page_at("/signage/{link:str}")
    async def show_link(
        link: FromPath[str],
        meter: FromQuery[str | None] = None,
        transparent: FromQuery[str | None] = None,
        preview: FromQuery[Preview | None] = None,
        lang: FromQuery[str | None] = None,
    ) -> str:
        page = signage(lang)
        shown = page.find(link)
        if preview is not None:
            invented = PreviewDisplay(shown, preview, floor.signage.celebrate_from)
            page = signage(lang, invented.displays)
        fixed = meter is not None and meter in {each.id for each in shown.fixed_jackpots}
        if meter is not None and not fixed:
            shown = _of_meter(shown, meter)
        return page.page(
            (shown,),
            link,
            only_fixed=meter if fixed else None,
            transparent=transparent is not None,
            preview=preview or "",
        )

    @page_at("/signage/{link:str}/pays")
    async def show_pays(link: FromPath[str], lang: FromQuery[str | None] = None) -> str:
        page = signage(lang)
        return page.paytables(page.find(link))

    @page_at("/signage/{link:str}/pays/{table:str}")
    async def show_pays_of_table(
        link: FromPath[str], table: FromPath[str], lang: FromQuery[str | None] = None
    ) -> str:
        page = signage(lang)
        return page.paytables(_of_table(page.find(link), table), table)

    return [go_to_signage, show_floor, show_link, show_pays, show_pays_of_table]


def _stage(branding: Branding, page_version: str) -> Callable[[WebRequest], str | None]:
    """Return a function that puts a page into a frame of a given size, if its address has a size.

    A media player can draw more than its display shows, or report another window size to pages.
    """

    def put_on_stage(request: WebRequest) -> str | None:
        given = request.query_params
        sides = {side: given[side] for side in _SIDES if side in given}
        if not sides:
            return None
        if len(sides) < len(_SIDES) or not all(map(_PIXELS.fullmatch, sides.values())):
            raise ValidationException("give width and height in pixels: ?width=1920&height=540")
        rest = [(name, value) for name, value in given.multi_items() if name not in sides]
        return _STAGE.render(
            version=page_version,
            words=patron_words(branding, languages_of(branding, given.get("lang"))[0]),
            transparent="transparent" in given,
            address=f"{request.url.path}?{urlencode(rest)}",
            **sides,
        )

    return put_on_stage


def languages_of(branding: Branding, fixed: str | None) -> tuple[Language, ...]:
    """Return the languages of the floor file, or only the language in the page's address.

    Raises:
        NotFoundException: the language in the address does not exist.
    """
    if fixed is None:
        return branding.languages
    known: tuple[Language, ...] = get_args(Language)
    found = tuple(each for each in known if each == fixed)
    if not found:
        raise NotFoundException(
            f"there is no language {fixed}: the languages are {', '.join(known)}"
        )
    return found


def sheets_of(languages: Sequence[Language]) -> list[str]:
    return [f"language_{each}.css" for each in languages if each in _WITH_SHEETS]


def _addresses(floor: Floor, page_version: str, wrong: str = "") -> str:
    return _ADDRESSES.render(
        version=page_version,
        facility=floor.facility,
        wrong=wrong,
        links=floor.link,
        previews=get_args(Preview),
    )


def _listing(
    addresses: Callable[[str], str],
) -> Callable[[WebRequest, HTTPException], Response[str] | Response[ErrorBody]]:
    """Return a handler of wrong addresses. It shows a browser the page that lists all addresses."""

    def list_addresses(
        request: WebRequest, error: HTTPException
    ) -> Response[str] | Response[ErrorBody]:
        if "text/html" not in request.headers.get("accept", ""):
            return on_http_error(request, error)
        page = addresses("; ".join(reasons_of(error)) or error.detail)
        return Response(page, status_code=error.status_code, media_type=MediaType.HTML)

    return list_addresses


@functools.lru_cache(maxsize=8)
def _code_of(address: str | None) -> Markup:
    if address is None:
        return Markup()
    drawn = segno.make_qr(address, error="l").svg_inline(
        border=2, light="#fff", omitsize=True, svgclass="code"
    )
    return Markup(drawn)  # noqa: S704  (its text is not in the drawing)


def _count(link: Link) -> int:
    return len(link.meter) + len(link.fixed_jackpots)


def _of_meter(link: Link, meter: str) -> Link:
    meters = tuple(each for each in link.meter if each.meter_id == meter)
    if not meters:
        ids = [each.meter_id for each in link.meter]
        known = ", ".join([*ids, *(each.id for each in link.fixed_jackpots)])
        raise NotFoundException(f"link {link.id} has no meter {meter}: its meters are {known}")
    return msgspec.structs.replace(link, meter=meters, fixed_jackpot=())


def _of_table(link: Link, table: str) -> Link:
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
    return msgspec.structs.replace(link, meter=meters, fixed_jackpot=())


class Signage:
    """One signage page; `signage.js` applies later changes by the same rules.

    The page is in the first of its languages. If there are more, its script asks for the others.
    """

    def __init__(
        self,
        floor: Floor,
        displays: DisplayState,
        version: str,
        logo: Logo | None,
        themes: Mapping[str, Theme],
        *,
        languages: tuple[Language, ...],
    ) -> None:
        self._floor = floor
        self._displays = displays
        self._branding = floor.signage
        self._languages = languages
        self._words = patron_words(floor.signage, languages[0])
        self._version = version
        self._logo = logo
        self._themes = themes
        self._rows = {(row.link, row.meter): row for row in displays.rows()}
        self._links = {row.link: row for row in displays.links()}
        self._hits = _by_box(displays.pending_jackpots())
        self._validated = _by_box(displays.validated())

    def find(self, link: str) -> Link:
        """Return a link with its present terms, or raise `NotFoundException`."""
        by_id = {each.id: each for each in self._floor.link}
        if link not in by_id:
            raise NotFoundException(f"there is no link {link}: the links are {', '.join(by_id)}")
        return self._displays.in_force(by_id[link])

    def paytables(self, link: Link, table: str = "") -> str:
        shown = [
            (meter.meter_id, meter.title, meter.limit, pays_of((meter,), self._words))
            for meter in link.meter
            if not meter.must_hit_by
        ]
        digest = hashlib.sha256(msgspec.json.encode(shown)).hexdigest()[:12]
        return self.page((link,), link.id, terms=f"{self._version}-{digest}", table=table)

    def page(
        self,
        links: tuple[Link, ...],
        watched: str | None,
        *,
        terms: str = "",
        table: str = "",
        only_fixed: str | None = None,
        transparent: bool = False,
        preview: Preview | Literal[""] = "",
    ) -> str:
        """Return the HTML of the page for links with their present terms.

        The page follows the link `watched`, or all links if it is None. If `terms` (a digest of the
        paytables) is given, the page also shows the paytables. If `table` is given, these are only
        the paytables of this table. If `only_fixed` is the id of a fixed jackpot of the one link,
        the page shows nothing else. If `transparent`, the page has only the meters. If `preview` is
        given, everything on the page is invented, and the page says so.
        """
        stream = "/api/v1/meters/stream" + (f"?link={watched}" if watched else "")
        if preview:
            stream = f"/signage/{watched}/preview/{preview}"
        facility = self._floor.facility
        shown = [
            self._link(link, pays=bool(terms), only_fixed=only_fixed)
            for link in links
            if link.meter
        ]
        boxes = sum(map(_count, links)) if only_fixed is None else 1
        return _TEMPLATE.render(
            version=self._version,
            facility=facility,
            look=self._branding,
            theme=self._themes[(links[0].theme if watched else None) or self._branding.theme],
            words=self._words,
            languages=self._languages,
            sheets=sheets_of(self._languages),
            texts=msgspec.json.encode(self._words).decode(),
            logo=self._logo is not None,
            title=links[0].name if watched else self._words.title,
            stakes=self._stakes(links) if only_fixed is None else [],
            stream=stream,
            transparent=transparent and ("one" if boxes == 1 else "all"),
            preview=preview,
            won_list=len(links) == 1 and boxes <= _LISTED_BESIDE and not terms,
            instant=datetime.now(UTC).isoformat(timespec="seconds"),
            links=shown,
            shown=self._page_shown(shown),
            terms=terms,
            table=table,
            game=self._game(links[0], table),
            foot=[unbroken(line) for line in foot_lines(self._words.foot)],
            foot_chars=_chars(*foot_lines(self._words.foot)),
            code=_code_of(self._branding.pays_address) if not terms else "",
            envy=self._envy(links) if not terms and only_fixed is None else "",
            night=_ALL_DAY if preview == "night" else self._branding.night,
        )

    def _envy(self, links: tuple[Link, ...]) -> str:
        """Return the highest Envy Bonus in words; empty if there is none, or for several links."""
        most = highest_envy(links[0].meter) if len(links) == 1 else 0
        return self._words.limit.format(amount=short_money(most)) if most else ""

    @staticmethod
    def _game(link: Link, table: str) -> str:
        played = {each.id: each.chapter.title for each in link.table}
        return played.get(table, "")

    def _stakes(self, links: tuple[Link, ...]) -> list[dict[str, object]]:
        """Return the wager of each view whose meters all have the same wager.

        A view is one link, or all links together.
        """
        views = {link.id: (link,) for link in links} | ({"": links} if len(links) > 1 else {})
        stakes = {view: self._stake(of) for view, of in views.items()}
        return [{"of": view, **stake} for view, stake in stakes.items() if stake]

    def _stake(self, links: tuple[Link, ...]) -> dict[str, object] | None:
        """Return the wager that all meters of the links have; None if the wagers differ.

        `is_one` is true if there are several meters, and one wager raises all of them.
        """
        fed = [(link, meter) for link in links for meter in link.meter if not meter.must_hit_by]
        meters = [meter for _, meter in fed]
        wagers = {(self._wager(link, meter), self._wager_text(link, meter)) for link, meter in fed}
        if len(wagers) != 1:
            return None
        ((wager, said),) = wagers
        groups = [
            group
            for link in links
            for group in meters_by_wager(link.meter)
            if not group[0].must_hit_by
        ]
        words = self._words
        is_one = len(groups) == 1 and len(meters) > 1
        plays = words.feeds_each if len(meters) > 1 else ""
        if is_one:
            plays = words.feeds_all.format(count=words.number(len(meters)))
        return {"chip": coin_money(wager), "wager": said, "plays": plays, "is_one": is_one}

    def _wager(self, link: Link, meter: Meter) -> int:
        row = self._rows.get((link.id, meter.meter_id))
        return row.wager if row else meter.wager

    @staticmethod
    def _page_shown(links: list[dict[str, object]]) -> Shown:
        """Return the state that all links have; ``live`` if they differ."""
        states = {link["shown"] for link in links}
        if not links or len(states) > 1:
            return "live"
        (state,) = states
        return (
            "unavailable" if state == "unavailable" else "closed" if state == "closed" else "live"
        )

    def _link(self, link: Link, *, pays: bool, only_fixed: str | None) -> dict[str, object]:
        row = self._links.get(link.id)
        tiers = ranks_of(self.find(link.id).meter)  # of all meters, also if a page has only some
        by_id = {meter.meter_id: meter for meter in link.meter if only_fixed is None}
        ordered = [by_id[meter] for meter in tiers if meter in by_id]
        fixed = [each for each in link.fixed_jackpots if only_fixed in {None, each.id} and not pays]
        lowest = 3 if any(tiers.values()) else 0
        boxes = [
            *(self._meter(link, meter, tiers) for meter in ordered),
            *(self._fixed_jackpot(link, each, lowest) for each in fixed),
        ]
        states = {box["shown"] for box in boxes}
        shown_ids = [*by_id, *(each.id for each in fixed)]
        waits = any(self._hits.get((link.id, box)) for box in shown_ids)
        shown: Shown = "live"
        if states == {"unavailable"}:
            shown = "unavailable"
        elif states <= {"closed", "unavailable"} and not waits:
            shown = "closed"
        return {
            "id": link.id,
            "name": link.name,
            "state": "inoperable" if row is None else row.state,
            "age_ms": 0 if row is None else row.age_ms,
            "shown": shown,
            "tiers": any(tiers.values()),
            "is_part": len(by_id) < len(tiers),
            "stake": self._stake((link,)) if only_fixed is None else None,
            "meters": boxes,
            "pays": self._pays(ordered, tiers) if pays else [],
        }

    def _pays(self, meters: Sequence[Meter], tiers: dict[str, int]) -> list[dict[str, object]]:
        return [
            {
                "title": self._words.meter_title(group[0]) if len(group) == 1 else "",
                "wager": self._words.wager.format(amount=coin_money(group[0].wager)),
                "pays": pays_of(group, self._words),
                "meters": [meter.meter_id for meter in group],
                "tiers": tiers,
            }
            for group in meters_by_wager(meters)
            if not group[0].must_hit_by
        ]

    def _shown(self, row: MeterRow | None) -> Shown:
        link = self._links.get(row.link) if row is not None else None
        states = {row.state if row is not None else "", link.state if link is not None else ""}
        if row is None or link is None or "inoperable" in states:
            return "unavailable"
        return "closed" if "closed" in states else "live"

    def _meter(self, link: Link, meter: Meter, tiers: dict[str, int]) -> dict[str, object]:
        key = (link.id, meter.meter_id)
        row = self._rows.get(key)
        shown = self._shown(row)
        words = self._words
        amount = money(row.amount) if row is not None and shown != "unavailable" else ""
        news = [*self._hits.get(key, ()), *self._validated.get(key, ())]
        label = f"{amount} {words.closed}" if shown == "closed" else amount or words.unavailable
        dollars = (row.amount if row is not None else meter.terms.seed_cents) // 100
        return {
            "meter_id": meter.meter_id,
            "fixed": None,
            "title": words.meter_title(meter),
            "tier": tiers[meter.meter_id],
            "is_top": meter.meter_id == next(iter(tiers)),
            "wager": self._wager_text(link, meter),
            "limit": words.limit.format(amount=short_money(meter.limit)) if meter.limit else "",
            "must_hit_by": self._must_hit_by_text(meter),
            "wins": winners_of(meter, words),
            "shown": shown,
            "known": " ".join(hit.claim for hit in news if hit.news_ms),
            "row": row,
            "amount": amount,
            "room": _room(dollars),
            "label": label,
            "note": self._note(key, shown, waits=row.state == "pending")
            if row is not None and amount
            else _Note(),
        }

    def _fixed_jackpot(self, link: Link, jackpot: FixedJackpot, tier: int) -> dict[str, object]:
        """Return what the box of a fixed jackpot shows. Its state is that of its meter."""
        words, key = self._words, (link.id, jackpot.id)
        row = self._rows.get((link.id, jackpot.meter.meter_id))
        shown = self._shown(row)
        amount = short_money(jackpot.amount_cents) if shown != "unavailable" else ""
        news = [*self._hits.get(key, ()), *self._validated.get(key, ())]
        label = f"{amount} {words.closed}" if shown == "closed" else amount or words.unavailable
        return {
            "meter_id": jackpot.id,
            "fixed": jackpot,
            "title": jackpot.name,
            "tier": tier,
            "is_top": False,
            "wager": self._wager_text(link, jackpot.meter),
            "limit": "",
            "must_hit_by": "",
            "wins": (fixed_winner_of(jackpot, words),),
            "shown": shown,
            "known": " ".join(hit.claim for hit in news if hit.news_ms),
            "row": row,
            "amount": amount,
            "room": _room(jackpot.amount_cents // 100),
            "label": label,
            "note": self._note(key, shown, waits=False) if amount else _Note(),
        }

    def _wager_text(self, link: Link, meter: Meter) -> str:
        """Return the wager of a meter. A must-hit-by meter has wagers of several amounts."""
        if meter.must_hit_by:
            return ""
        amounts = sorted((*meter.smaller_wagers, self._wager(link, meter)))
        return self._words.wager.format(amount=" / ".join(map(coin_money, amounts)))

    def _must_hit_by_text(self, meter: Meter) -> str:
        hit_by, words = meter.must_hit_by, self._words
        return words.must_hit_by.format(amount=short_money(hit_by.maximum)) if hit_by else ""

    def _note(self, key: tuple[str, str], shown: Shown, *, waits: bool) -> _Note:
        """Return the text about a meter's highest waiting win, or its last validated one (D8).

        `waits` is true if some win of the meter waits, even if the win itself is not known.
        """
        words = self._words
        if hits := self._hits.get(key):
            first = max(hits, key=lambda hit: hit.amount)
            more = words.one_of.format(at=1, count=len(hits)) if len(hits) > 1 else ""
            return _Note(
                "pending", self._won(first), " · ".join(filter(None, (words.pending, more)))
            )
        if shown == "closed":
            return _Note("closed", words.closed)
        if good := self._validated.get(key):
            return _Note("validated", self._won(good[-1]), words.validated)
        return _Note("pending", words.waits) if waits else _Note()

    def _won(self, hit: JackpotRow) -> str:
        return self._words.won.format(table=hit.table, amount=money(hit.amount))


def _room(dollars: int) -> int:
    digits = len(str(dollars))
    return min(max(digits, min(digits + 1, 7)), _ROOM_MOST)


def _by_box(hits: list[JackpotRow]) -> dict[tuple[str, str], list[JackpotRow]]:
    found: dict[tuple[str, str], list[JackpotRow]] = {}
    for hit in hits:
        found.setdefault((hit.link, hit.box), []).append(hit)
    return found
