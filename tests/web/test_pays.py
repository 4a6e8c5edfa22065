"""Players see what each hand wins of a meter (duty D1): on the signage, and at the table."""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from html.parser import HTMLParser
from pathlib import Path
from typing import Any, Final, cast

import httpx
import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

import bonus.law
import controllers.demo
from bonus.display import hand_words
from meters.floor.floor_file import Link
from tests.browsers import WIDER, check_accessible
from tests.floor_text import floor_text, link_text, meter_text, section_text, table_text
from tests.games.naive import HOUSE, fed_by
from tests.web.conftest import Sides
from tests.web.signage_page import MAIN, opened, shows
from tests.web.stand import Stand

EVERY_METER: Final = floor_text(
    link_text(
        "tcp-main",
        meter_text("progressive"),
        meter_text(
            "five_card_hand_bonus", 500,
            name="Hand Bonus <b>Grand</b>", magic_card_every=24, lucky_every=12,
        ),
        meter_text("five_card_progressive"),
        meter_text("five_of_six_progressive", 500),
        table_text("TCP-01", "progressive", "five_of_six_progressive"),
        name="Three Card Poker Jackpot",
    ),
    link_text("pit-2", meter_text("progressive", 500), name="Pit 2"),
    service={"hosts": ["pit.example"]},
    name="Keystone <Casino> & Resort",
)  # fmt: skip


TIERS: Final = ("keystone_mega", "keystone_major", "keystone_minor")
HOUSE_FLOOR: Final = floor_text(
    link_text(
        "tcp-main",
        *(meter_text(kind) for kind in TIERS),
        table_text("KS-1", *TIERS, game="keystone_stud"),
        table_text("RD-1", *TIERS, game="river_duel"),
    ),
    games=str(HOUSE),
)
# In River Duel, a royal flush of spades is paid as any royal flush.
STUD_AND_DUEL: Final = """
Royal flush of spades | Keystone Mega + $1,000 | $200 | Keystone Mega
Any other royal flush | Keystone Major + 50% of Keystone Mega | $100 | Keystone Mega
Straight flush | Keystone Major | | Keystone Major
Four of a kind | Keystone Minor + $25 | | Keystone Minor
Full house | 10% of Keystone Minor | | $20
Flush | $15 | | $15
Straight | $10 | |
Three of a kind | $3 | |
"""

METERS: Final = (
    "progressive", "five_card_hand_bonus", "five_card_progressive", "five_of_six_progressive",
)  # fmt: skip
PAYS: Final = "/signage/tcp-main/pays"


class Tables(HTMLParser):
    """Parser of the rows of each paytable, by the ids of its meters; a bar separates the cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.of: dict[str, list[str]] = {}
        self.heads: list[str] = []
        self._rows: list[str] = []
        self._in: str = ""
        self._in_cards = False
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        meters = dict(attrs).get("data-meters")
        classes = dict(attrs).get("class")
        if meters is not None:
            self._rows = self.of.setdefault(meters, [])
        elif tag in {"thead", "tbody"}:
            self._in = tag
        elif tag == "tr" and self._in == "tbody":
            self._rows.append("")
        elif tag == "tr":
            self.heads.append("")
        elif tag == "td":
            self._in_cards = classes == "cards"
            if self._in == "tbody" and not self._in_cards:
                self._rows[-1] += " |"
        elif tag == "th":
            self._in_cards = False
            if self._in == "thead" and self.heads[-1]:
                self.heads[-1] += " |"

    def handle_endtag(self, tag: str) -> None:
        if tag == "table":
            self._in = ""

    def handle_data(self, data: str) -> None:
        if self._in and data.strip() and not self._in_cards:
            shown = self._rows if self._in == "tbody" else self.heads
            shown[-1] += f" {data.strip()}" if shown[-1] else data.strip()


def rows(text: str) -> list[str]:
    return text.strip().splitlines()


@pytest_asyncio.fixture(loop_scope="session")
async def stand(sides: Sides) -> Stand:
    return await sides(EVERY_METER)


def with_paytable(stand: Stand, paytable: str) -> Link:
    link = stand.floor.link[0]
    meter = msgspec.structs.replace(link.meter[0], paytable=paytable)
    return msgspec.structs.replace(link, meter=(meter, *link.meter[1:]))


@pytest.mark.duty("D1", proof=True)
async def test_the_signage_says_which_hands_win_the_meter(stand: Stand) -> None:
    text = (await stand.get("/signage/tcp-main")).text
    for line in (
        "<b data-say>Ace, king, queen of spades</b> <span data-say>wins it all</span>",
        "<b data-say>Royal flush</b> <span data-say>wins it all</span>",
        "<b data-say>Straight flush</b> <span data-say>10%</span>",
        "<b data-say>Royal flush of spades</b> <span data-say>wins it all</span>",
        "<b data-say>Any other royal flush</b> <span data-say>25%</span>",
    ):
        assert line in text


@pytest.mark.duty("D1")
async def test_a_table_s_page_shows_only_what_the_table_offers(stand: Stand) -> None:
    whole = Tables((await stand.get(PAYS)).text).of
    assert {*whole} == {*METERS}
    text = (await stand.get(f"{PAYS}/TCP-01")).text
    offered = ("progressive", "five_of_six_progressive")
    assert Tables(text).of == {meter: whole[meter] for meter in offered}
    assert "Table </span><b>TCP-01</b>" in text


@pytest.mark.duty("D1")
async def test_games_that_pay_differently_are_named_on_the_page_of_their_link(sides: Sides) -> None:
    house_stand = await sides(HOUSE_FLOOR)
    tables = Tables((await house_stand.get(PAYS)).text)
    assert tables.of == {" ".join(TIERS): rows(STUD_AND_DUEL)}
    assert tables.heads == ["Hand | Keystone Stud | Envy | River Duel"]
    text = (await house_stand.get("/signage/tcp-main")).text
    for line in (
        "<b data-say>Royal flush of spades</b> <em>Keystone Stud</em> <span data-say>wins it",
        "<b data-say>Royal flush</b> <em>River Duel</em> <span data-say>wins it all</span>",
    ):
        assert line in text


@pytest.mark.duty("D1")
async def test_a_table_without_the_meter_of_a_fixed_jackpot_has_its_page(sides: Sides) -> None:
    floor = floor_text(
        link_text(
            "tcp-main",
            meter_text("progressive", 500, paytable="B"),
            meter_text("five_card_progressive"),
            section_text(
                "[[link.fixed_jackpot]]", name="Mini-Royal", meter="progressive", hand="mini_royal"
            ),
            table_text("TCP-01", "progressive"),
            table_text("TCP-02", "five_card_progressive"),
        )
    )
    with_other = await sides(floor)
    found = await with_other.get(f"{PAYS}/TCP-02")
    assert found.status_code == 200
    assert [*Tables(found.text).of] == ["five_card_progressive"]


async def test_no_poker_cards_stand_beside_a_pattern_with_the_name_of_a_hand(sides: Sides) -> None:
    """Three cards, and no five, form the straight flush of the side bet."""
    floor = floor_text(
        link_text(
            "tcp-main",
            meter_text("twenty_one_jackpot"),
            table_text("KB-1", "twenty_one_jackpot", game="keystone_twenty_one"),
        ),
        games=str(HOUSE),
    )
    of_decks = await sides(floor)
    for path in ("/signage/tcp-main", PAYS):
        text = (await of_decks.get(path)).text
        assert "traight flush" in text
        assert 'class="card"' not in text


async def test_a_link_or_a_table_that_there_is_not_is_refused_with_those_that_are(
    stand: Stand,
) -> None:
    for path, known in (
        ("/signage/nowhere/pays", "tcp-main, pit-2"),
        (f"{PAYS}/TCP-02", "link tcp-main has no table TCP-02: its tables are TCP-01"),
    ):
        response = await stand.get(path)
        assert response.status_code == 404
        assert known in response.json()["error"]["message"]
    asked = (
        "/signage/nowhere",
        f"{PAYS}/TCP-02",
        "/signage/pit-2?preview=hits",
        "/signage/x?meter",
    )
    for path in asked:
        shown = await stand.get(path, Accept="text/html,*/*")
        assert shown.status_code in {400, 404}
        for address in ("/signage/pit-2", f"{PAYS}/TCP-01", "/signage/pit-2?preview=hit"):
            assert f'href="{address}"' in shown.text


async def test_a_phone_has_a_line_a_meter_and_a_paytable_on_its_first_screen(
    page: Page, stand: Stand
) -> None:
    for meter in stand.floor.link[0].meter:
        stand.put(1_512_345, 5, meter=meter.meter_id)
    await page.set_viewport_size({"width": 390, "height": 844})
    await page.goto(stand.url + PAYS)
    await shows(page, "$15,123.45")
    for meter in stand.floor.link[0].meter:
        stand.hit(claim=meter.meter_id, meter=meter.meter_id, amount=1_512_345)
    await expect(page.locator(".meter .note:visible")).to_have_count(4)
    await expect(page.locator(".celebration")).to_be_hidden(timeout=90_000)
    lower = await page.evaluate(
        """() => [...document.querySelectorAll(".meter")].map((meter) => {
          const amount = meter.querySelector(".amount").getBoundingClientRect();
          const tag = meter.querySelector(".tag").getBoundingClientRect();
          const note = meter.querySelector(".note").getBoundingClientRect();
          return tag.right < amount.left && amount.bottom < note.top + 3 && note.left > 0;
        })"""
    )
    assert lower == [True] * 4
    first = await page.locator(".paytable tbody tr").first.bounding_box()
    assert first is not None
    assert first["y"] + first["height"] < 844


@pytest.mark.duty("D1")
async def test_a_changed_paytable_is_shown_in_its_present_form(page: Page, stand: Stand) -> None:
    """An open page takes the change by itself, as it takes the amounts of the meter."""
    stand.put(151_234, 5)
    await page.goto(f"{stand.url}{PAYS}/TCP-01")
    await shows(page, "$1,512.34")
    stand.put(151_259, 6)
    await shows(page, "$1,512.59")
    meter = page.locator('[data-meters="progressive"]')
    await expect(meter).to_contain_text("$70")
    stand.displays.put_terms(with_paytable(stand, "B"))
    tables = Tables((await stand.get(PAYS)).text).of
    assert tables["progressive"][2:] == ["Straight flush | $100 |", "Three of a kind | $90 |"]
    await expect(meter).to_contain_text("$90", timeout=20_000)


async def test_signage_takes_the_change_when_the_link_opens_again(page: Page, stand: Stand) -> None:
    stand.put(151_234, 5)
    await opened(page, stand)
    stand.keep_beating(tcp_main="closed")
    await expect(page.locator(f'{MAIN} .note[data-kind="closed"]')).to_be_visible()
    link = stand.floor.link[0]
    other = msgspec.structs.replace(link.meter[3], id="progressive")
    stand.displays.put_terms(msgspec.structs.replace(link, meter=(other, *link.meter[1:3])))
    stand.keep_beating()
    await expect(page.locator(f"{MAIN} .wins")).to_contain_text(
        "Any other royal flush 25%", timeout=20_000
    )


@pytest.mark.slow
@pytest.mark.parametrize("floor", [EVERY_METER, HOUSE_FLOOR], ids=["chapter", "house"])
async def test_it_fits_and_axe_finds_nothing(browser: Browser, sides: Sides, floor: str) -> None:
    stand = await sides(floor)
    page = await browser.new_page(bypass_csp=True)
    for width, height in ((1280, 800), (390, 844)):
        await page.set_viewport_size({"width": width, "height": height})
        await page.goto(stand.url + PAYS)
        assert not await page.evaluate(WIDER)
        await check_accessible(page)


Law = Mapping[str, Any]
Shown = Counter[tuple[str, str]]

CHAPTERS: Final = Path(bonus.law.__file__).with_name("chapters")
DEMO: Final = Path(controllers.demo.__file__).with_name("games")
STUD: Final = HOUSE / "keystone_stud.toml"
EVERY_HAND_BRINGS_ENVY: Final = {
    'lowest = "royal_flush"': 'lowest = "straight"',
    'royal_flush = "$100" }': 'royal_flush = "$100", straight_flush = "$50", '
    'four_of_a_kind = "$25", full_house = "$10", flush = "$5", straight = "$2" }',
    'straight = "10 for 1"\n': "",
    'three_of_a_kind = "3 for 1"\n': "",
    'lowest = "three_of_a_kind"': 'lowest = "flush"',
}
"""Changes of Keystone Stud: a hand brings an Envy Bonus whichever of its meters it wins, and even
if it wins nothing itself."""

_DRAWS: Final = {"Magic Card": "magic_card", "Lucky Bonus": "lucky_bonus"}


def cells_of(wager: Law, meters: Law, titles: Mapping[str, str]) -> Shown:
    """Return what the game file says of a wager: each payout, by the hand and the meter."""
    found: Shown = Counter()
    first, *_ = fed = fed_by(wager)
    table = wager["table"][0]
    for hand, row in table["pays"].items():
        letter = meters[first]["paytable"]
        cell = row if isinstance(row, str) else row[table["choices"].index(letter)]
        for part in cell.split(" + ") if cell not in {"", "N/A"} else ():
            if match := re.fullmatch(r"([\d.]+)% of (\w+)", part):
                meter = first if match[2] == "meter" else match[2]
                title = titles[meter] if len(fed) > 1 else "the meter"
                text = title if match[1] == "100" else f"{match[1]}% of {title}"
                found[f"{' '.join(fed)} {hand_words(hand)}", text] += 1
            else:
                dollars = _dollars(part, meters[first]["wager"])
                found[f"{' '.join(fed)} {hand_words(hand)}", dollars] += 1
    for name, draw in _DRAWS.items():
        if "draws" in wager:
            dollars = _dollars(wager["draws"][draw], meters[first]["wager"])
            found[f"{' '.join(fed)} {name}", dollars] += 1
    for schedule in wager.get("envy", {}).get("schedule", ()):
        if _dollars(schedule["wager"], 0) == f"${meters[first]['wager'] // 100}":
            for hand, cell in schedule["pays"].items():
                shown = _share(cell, wager, titles) or cell
                found[f"Envy {' '.join(fed)} {hand_words(hand)}", shown] += 1
    return found


def _share(cell: str, wager: Law, titles: Mapping[str, str]) -> str:
    """Return the percentage of a meter in a cell as it is shown, or an empty text."""
    match = re.fullmatch(r"([\d.]+)% of (\w+)", cell)
    if match is None:
        return ""
    title = "the meter" if len(fed_by(wager)) == 1 else titles[match[2]]
    return f"{match[1]}% of {title}"


def community_rules(wager: Law, titles: Mapping[str, str]) -> list[str]:
    pays = wager.get("community", {"pays": {}})["pays"]
    return [
        f"{hand_words(hand)}: all players who made the wager divide {_share(cell, wager, titles)}."
        for hand, cell in pays.items()
    ]


def _dollars(cell: str, wager_cents: int) -> str:
    number = int(re.sub(r"\D", "", cell.removesuffix(" for 1")))
    return f"${number * wager_cents // 100 if cell.endswith('for 1') else number:,}"


def hand_of(row: str) -> str:
    """Return the law's name of the hand in a row."""
    said = row.partition("|")[0].strip()
    return "Royal flush" if said == "Any other royal flush" else said


def shown_of(tables: Tables) -> Shown:
    found: Shown = Counter()
    for meters, rows in tables.of.items():
        for row in rows:
            _, cell, envy, *_ = [*(part.strip() for part in row.split("|")), "", ""]
            hand = hand_of(row)
            for part in cell.split(" + ") if cell else ():
                found[f"{meters} {hand}", part] += 1
            if envy:
                found[f"Envy {meters} {hand}", envy] += 1
    return found


def offers(law: Law) -> Iterator[Mapping[str, Mapping[str, Any]]]:
    """Yield settings of the meters of a game, so that every paytable and schedule occurs."""
    fed = [wager for wager in law["wager"] if fed_by(wager)]
    choices = max(len(wager["table"][0].get("choices", "-")) for wager in fed)
    amounts = max(len(wager.get("envy", {}).get("schedule", "-")) for wager in fed)
    for number in range(choices * amounts):
        meters = {}
        for wager in fed:
            letters = wager["table"][0].get("choices", [None])
            schedules = wager.get("envy", {}).get("schedule", [{"wager": "$1"}])
            at, amount = number % choices % len(letters), number // choices % len(schedules)
            cents = 100 * int(schedules[amount]["wager"].removeprefix("$"))
            every = {"magic_card_every": 24, "lucky_every": 12} if "draws" in wager else {}
            for meter in fed_by(wager):
                meters[meter] = {"wager": cents, "paytable": letters[at], **every}
        yield meters


def feeding(path: Path) -> Iterator[Path]:
    for file in sorted(path.glob("*.toml")):
        if any(map(fed_by, tomllib.loads(file.read_text()).get("wager", ()))):
            yield file


@pytest.mark.duty("D1", proof=True)
@pytest.mark.section("649a.2(b)(7)", proof=True)
@pytest.mark.section("649a.12(e)(1)")
@pytest.mark.parametrize(
    "file", [*feeding(CHAPTERS), *feeding(HOUSE), *feeding(DEMO), None],
    ids=lambda file: file.stem if file else "envy_for_every_hand",
)  # fmt: skip
async def test_every_cell_and_every_envy_bonus_is_shown_once(
    file: Path | None, tmp_path: Path
) -> None:
    text = (file or STUD).read_text()
    if file is None:
        for before, after in EVERY_HAND_BRINGS_ENVY.items():
            assert before in text
            text = text.replace(before, after, 1)
    law = tomllib.loads(text)
    if file not in {*feeding(CHAPTERS)}:
        (tmp_path / f"{law['game']}.toml").write_text(text)
    offered = list(offers(law))
    fed = [wager for wager in law["wager"] if fed_by(wager)]
    titles = {meter["name"]: meter["title"] for meter in law["meter"]}
    rankings = [list(map(hand_words, wager["table"][0]["pays"])) for wager in fed]
    links = [
        link_text(
            f"link-{number}",
            *(meter_text(kind, **settings) for kind, settings in meters.items()),
            table_text(f"T-{number}", *meters, game=law["game"], positions=2),
        )
        for number, meters in enumerate(offered)
    ]
    stand = Stand(floor_text(*links, games=str(tmp_path)))
    transport = httpx.ASGITransport(cast("Any", stand.app()))
    async with httpx.AsyncClient(transport=transport, base_url=stand.url) as client:
        for number, meters in enumerate(offered):
            expected = sum((cells_of(wager, meters, titles) for wager in fed), Counter())
            for path in ("", f"/T-{number}"):
                page = (await client.get(f"/signage/link-{number}/pays{path}")).text
                tables = Tables(page)
                assert shown_of(tables) == expected
                for rule in (rule for wager in fed for rule in community_rules(wager, titles)):
                    assert page.count(rule) == 1
                assert re.findall(r"only the first (\w+)\.", page) == [
                    {3: "three"}[wager["community_cards"]]
                    for wager in fed
                    if "community_cards" in wager
                ]
                for rows in tables.of.values() if file else ():
                    hands = [hand_of(row) for row in rows]
                    ranked = [hand for hand in hands if hand not in _DRAWS]
                    assert ranked in [
                        [hand for hand in best if hand in ranked] for best in rankings
                    ], "the best hand first"
