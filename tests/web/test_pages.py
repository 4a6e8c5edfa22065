"""The signage pages as first rendered by the server, and the files that they use."""

import re
from html.parser import HTMLParser

import pytest

from bonus.display import money, wager_text
from meters.floor.logo import LOGO_BYTES_MAX
from meters.http.static_files import Assets
from meters.web.theme import PAGES, themed
from tests.web.signage_page import standing
from tests.web.stand import FLOOR, Stand

PAGE_BYTES_MAX = 110_000
LANDMARKS = ("header", "main", "footer")


class Reader(HTMLParser):
    """Parser that collects elements of a page by their class, and its text."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.outside: list[str] = []
        self._outside = False
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))
        if tag in {"body", *LANDMARKS}:
            self._outside = tag == "body"

    def handle_endtag(self, tag: str) -> None:
        if tag in LANDMARKS:
            self._outside = True

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"
        if self._outside and data.strip():
            self.outside.append(data.strip())

    def meters(self) -> list[dict[str, str | None]]:
        return [attrs for _, attrs in self.tags if attrs.get("class") == "meter"]

    def amounts(self) -> list[str | None]:
        """Return the amounts of the meters. The last one on a page is for a future celebration."""
        found = [attrs for _, attrs in self.tags if (attrs.get("class") or "").startswith("amount")]
        return [attrs["aria-label"] for attrs in found][:-1]


@pytest.mark.parametrize(
    ("amount_cents", "text"),
    [
        (0, "$0.00"),
        (5, "$0.05"),
        (99_999, "$999.99"),
        (100_000, "$1,000.00"),
        (112_362, "$1,123.62"),
        (900_719_925_474_099, "$9,007,199,254,740.99"),
    ],
)
def test_money_is_written_from_whole_cents(amount_cents: int, text: str) -> None:
    assert money(amount_cents) == text


@pytest.mark.parametrize(
    ("wager_cents", "text"),
    [(100, "$1 wager"), (500, "$5 wager"), (250, "$2.50 wager"), (25, "25¢ wager")],
)
def test_a_wager_is_written_as_it_is_spoken(wager_cents: int, text: str) -> None:
    assert wager_text(wager_cents) == text


async def test_the_first_paint_has_the_amounts_and_the_time(stand: Stand) -> None:
    stand.put(112_362, 7)
    page = Reader((await stand.get("/signage")).text)
    assert page.amounts()[0] == "$1,123.62"
    assert re.search(r"As of\s+\d\d:\d\d:\d\d", page.text)
    drawn = [attrs["data-d"] for _, attrs in page.tags if "data-d" in attrs]
    assert drawn == list("112362")


async def test_a_meter_without_a_value_shows_no_number(stand: Stand) -> None:
    stand.put(112_362, 7)
    page = Reader((await stand.get("/signage")).text)
    assert page.amounts()[1:] == ["Temporarily unavailable"] * 2
    assert page.meters()[1]["data-state"] == "unavailable"


async def test_a_link_that_is_not_operable_shows_no_number(stand: Stand) -> None:
    stand.put(112_362, 7)
    stand.hush()
    stand.beat("tcp-main", "inoperable", "Redis does not answer")
    text = (await stand.get("/signage/tcp-main")).text
    assert Reader(text).amounts() == ["Temporarily unavailable"] * 2
    assert "1,123.62" not in text
    assert "does not answer" not in text


async def test_a_closed_link_shows_its_number_and_that_it_is_closed(stand: Stand) -> None:
    stand.put(112_362, 7)
    stand.hush()
    stand.beat("tcp-main", "closed", "parameters are changed")
    text = (await stand.get("/signage/tcp-main")).text
    assert Reader(text).amounts() == ["$1,123.62 Closed", "Temporarily unavailable"]
    assert Reader(text).meters()[0]["data-state"] == "closed"
    assert "parameters" not in text


async def test_a_closed_meter_says_so_while_its_link_operates(stand: Stand) -> None:
    stand.put(112_362, 7, state="closed")
    stand.put(500_000, 3, meter="five_card_hand_bonus")
    page = Reader((await stand.get("/signage/tcp-main")).text)
    assert page.amounts() == ["$1,123.62 Closed", "$5,000.00"]


async def test_a_pending_hit_names_the_table_and_the_amount(stand: Stand) -> None:
    """Duty D8; of several, the highest comes first."""
    stand.put(100_000, 8, cycle=2, state="pending")
    stand.hit(claim="c1", amount=2_500, table="TCP-01")
    stand.hit(claim="c2", amount=151_234, table="TCP-03")
    text = Reader((await stand.get("/signage")).text).text
    assert "Table TCP-03 wins $1,512.34 · 1 of 2" in text


async def test_a_win_just_validated_is_named(stand: Stand) -> None:
    stand.put(100_000, 8, cycle=2)
    stand.hit(amount=151_234)
    stand.hit("validated", amount=151_234)
    text = Reader((await stand.get("/signage")).text).text
    assert re.search(r"Validated\s+Table TCP-03 wins \$1,512\.34", text)


async def test_what_the_floor_file_says_is_escaped(stand: Stand) -> None:
    text = (await stand.get("/signage")).text
    assert "Keystone &lt;Casino&gt; &amp; Resort" in text
    assert "Hand Bonus &lt;b&gt;Grand&lt;/b&gt;" in text
    assert not any(tag in {"casino", "b"} for tag, _ in Reader(text).tags)


async def test_a_page_of_one_link_shows_that_link_alone(stand: Stand) -> None:
    text = (await stand.get("/signage/pit-2")).text
    page = Reader(text)
    assert [attrs["data-meter"] for attrs in page.meters()] == ["progressive"]
    assert "Three Card Poker Jackpot" not in page.text
    assert "stream?link=pit-2" in text


@pytest.mark.parametrize("path", ["/signage", "/signage/tcp-main", "/signage/tcp-main/pays"])
async def test_everything_is_in_a_landmark_under_headings(path: str) -> None:
    """Screen readers go from heading to heading: title, links, meters, with no level left out."""
    foot = '[signage]\nwording = { foot = "Play responsibly" }'
    floor = FLOOR.replace("[facility]", "[facility]\ndemonstration = true")
    async with standing(foot, floor) as stand:
        page = Reader((await stand.get(path)).text)
    assert [tag for tag, _ in page.tags if tag in LANDMARKS] == list(LANDMARKS)
    assert "Play responsibly" in page.text
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels == ([1, 2, 3, 3, 2, 3] if path == "/signage" else [1, 2, 3, 3])
    assert page.outside == []


async def test_an_unknown_link_is_refused_with_those_that_are(stand: Stand) -> None:
    response = await stand.get("/signage/nowhere")
    assert response.status_code == 404
    assert "tcp-main, pit-2" in response.json()["error"]["message"]


async def test_the_root_leads_to_the_signage(stand: Stand) -> None:
    response = await stand.get("/")
    assert (response.status_code, response.headers["location"]) == (302, "/signage")


async def test_the_page_is_light_and_names_nothing_elsewhere(stand: Stand) -> None:
    page = (await stand.get("/signage")).text
    version = re.search(r'data-version="(\w+)"', page)
    assert version is not None
    ours = ("signage", "look", "numerals", "dollar", "comma", "point", "heart", "spade", "club")
    shared = (
        "common.", "clock.", "event_stream.", "expiry.", "money.", "requests.", "stream_worker.",
        "diamond",
    )  # fmt: skip
    names = [
        name
        for name in themed(Assets.load(PAGES), stand.floor).bodies
        if name.startswith(ours + shared)
    ]
    assert len(names) == 23
    texts = [page]
    for name in names:
        answer = await stand.get(f"/assets/{version[1]}/{name}")
        assert answer.status_code == 200
        texts.append(answer.text)
    assert sum(len(text.encode()) for text in texts) + LOGO_BYTES_MAX < PAGE_BYTES_MAX
    for text in texts:
        addresses = set(re.findall(r"https?://[^\s\"'<)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}


async def test_assets_are_kept_under_their_version_alone(stand: Stand) -> None:
    version = themed(Assets.load(PAGES), stand.floor).version
    kept = await stand.get(f"/assets/{version}/signage.js")
    assert "immutable" in kept.headers["cache-control"]
    assert kept.headers["content-type"].startswith("text/javascript")
    assert (await stand.get("/assets/000000000000/signage.js")).status_code == 404
    assert (await stand.get(f"/assets/{version}/..%2Fsignage.py")).status_code == 404
