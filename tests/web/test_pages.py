"""The signage pages as first rendered by the server, and the files that they use."""

import re
from html.parser import HTMLParser

import pytest

from bonus.display import money, wager_text
from meters.floor.branding import LOGO_BYTES_MAX
from meters.web.display_state import MeterState
from meters.web.staff_pages import load_assets
from tests.web.conftest import Sides
from tests.web.stand import FLOOR, Stand

PAGE_BYTES_MAX = 200_000
LANDMARKS = ("header", "main", "footer")


class Reader(HTMLParser):
    def __init__(self, page: str) -> None:
        super().__init__()
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self.text = ""
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append((tag, dict(attrs)))

    def handle_data(self, data: str) -> None:
        self.text += data + "\n"

    def meters(self) -> list[dict[str, str | None]]:
        return [attrs for _, attrs in self.tags if attrs.get("class") == "meter"]

    def amounts(self) -> list[str | None]:
        found = [attrs for _, attrs in self.tags if (attrs.get("class") or "").startswith("amount")]
        return [attrs["aria-label"] for attrs in found]


def test_money_is_written_from_whole_cents_and_a_wager_as_it_is_spoken() -> None:
    for cents, text in {
        0: "$0.00", 5: "$0.05", 99_999: "$999.99", 100_000: "$1,000.00", 112_362: "$1,123.62",
        900_719_925_474_099: "$9,007,199,254,740.99",
    }.items():  # fmt: skip
        assert money(cents) == text
    for cents, text in {
        100: "$1 wager", 500: "$5 wager", 250: "$2.50 wager", 25: "25¢ wager",
    }.items():  # fmt: skip
        assert wager_text(cents) == text


async def test_the_first_paint_has_the_amounts(stand: Stand) -> None:
    """A meter without a value has no number."""
    stand.put(112_362, 7)
    page = Reader((await stand.get("/signage")).text)
    assert page.amounts() == ["Temporarily unavailable", "$1,123.62", "Temporarily unavailable"]
    assert page.meters()[0]["data-state"] == "unavailable"
    drawn = [attrs["data-d"] for _, attrs in page.tags if "data-d" in attrs]
    assert drawn == list("112362")


@pytest.mark.parametrize(
    ("link", "meter", "state", "amounts"),
    [
        ("inoperable", "open", "unavailable", ["Temporarily unavailable"] * 2),
        ("closed", "open", "closed", ["$5,000.00 Closed", "$1,123.62 Closed"]),
        ("operable", "closed", "closed", ["$5,000.00", "$1,123.62 Closed"]),
    ],
)
async def test_what_is_inoperable_shows_no_number_and_what_is_closed_says_so(
    stand: Stand, link: str, meter: MeterState, state: str, amounts: list[str]
) -> None:
    stand.put(112_362, 7, state=meter)
    stand.put(500_000, 3, meter="five_card_hand_bonus")
    stand.hush()
    stand.beat("tcp-main", link, "Redis does not answer")
    text = (await stand.get("/signage/tcp-main")).text
    page = Reader(text)
    assert (page.amounts(), page.meters()[1]["data-state"]) == (amounts, state)
    assert ("1,123.62" in text) == (state == "closed")
    assert "does not answer" not in text


async def test_a_pending_hit_names_the_table_and_the_amount_until_it_is_validated(
    stand: Stand,
) -> None:
    """Duty D8; of several, the highest comes first."""
    stand.put(100_000, 8, cycle=2, state="pending")
    stand.hit(claim="c1", amount=2_500, table="TCP-01")
    stand.hit(claim="c2", amount=151_234, table="TCP-03")
    text = Reader((await stand.get("/signage")).text).text
    assert re.search(r"Table TCP-03 won \$1,512\.34\s+verifying · 1 of 2", text)
    stand.hit("rejected", claim="c1", table="TCP-01")
    stand.hit("validated", claim="c2", amount=151_234)
    text = Reader((await stand.get("/signage")).text).text
    assert re.search(r"Table TCP-03 won \$1,512\.34\s+verified", text)


async def test_what_the_floor_file_says_is_escaped_and_a_link_s_page_shows_it_alone(
    stand: Stand,
) -> None:
    text = (await stand.get("/signage")).text
    assert "Keystone &lt;Casino&gt; &amp; Resort" in text
    assert "Hand Bonus &lt;b&gt;Grand&lt;/b&gt;" in text
    assert not any(tag == "casino" for tag, _ in Reader(text).tags)
    text = (await stand.get("/signage/pit-2")).text
    page = Reader(text)
    assert [attrs["data-meter"] for attrs in page.meters()] == ["progressive"]
    assert "Three Card Poker Jackpot" not in page.text
    assert "stream?link=pit-2" in text
    response = await stand.get("/signage/nowhere")
    assert response.status_code == 404
    assert "tcp-main, pit-2" in response.json()["error"]["message"]
    response = await stand.get("/")
    assert (response.status_code, response.headers["location"]) == (302, "/signage")


@pytest.mark.parametrize("path", ["/signage", "/signage/tcp-main", "/signage/tcp-main/pays"])
async def test_a_page_has_its_landmarks_and_headings(sides: Sides, path: str) -> None:
    """Screen readers go from heading to heading: title, links, meters, with no level left out."""
    foot = '\n[signage]\nwording = { foot = "Play responsibly" }'
    stand = await sides(FLOOR.replace("[facility]", "[facility]\ndemonstration = true") + foot)
    page = Reader((await stand.get(path)).text)
    assert [tag for tag, _ in page.tags if tag in LANDMARKS] == list(LANDMARKS)
    assert "Play responsibly" in page.text
    levels = [int(tag[1]) for tag, _ in page.tags if re.fullmatch("h[1-6]", tag)]
    assert levels == [
        1,
        2,
        3,
        3,
        *([2, 3] if path == "/signage" else [3, 3] if "pays" in path else []),
    ]


async def test_the_page_is_light_and_names_nothing_elsewhere(stand: Stand) -> None:
    page = (await stand.get("/signage")).text
    version = re.search(r'data-version="(\w+)"', page)
    assert version is not None
    ours = (
        "signage", "patron", "tokens.", "theme_gold", "archivo-latin.", "cinzel-latin.", "roboto",
        "dollar", "heart", "spade", "club", "hourglass", "check", "lock", "open_ring",
    )  # fmt: skip
    shared = (
        "common.", "clock.", "event_stream.", "expiry.", "money.", "requests.", "stream_worker.",
        "diamond",
    )  # fmt: skip
    names = [name for name in load_assets(stand.floor).bodies if name.startswith(ours + shared)]
    assert len(names) == 37
    texts, sent = [page], 0
    for name in names:
        answer = await stand.get(f"/assets/{version[1]}/{name}")
        assert answer.status_code == 200
        sent += answer.num_bytes_downloaded
        if not name.endswith(".woff2"):
            texts.append(answer.text)
    assert sent + LOGO_BYTES_MAX < PAGE_BYTES_MAX
    for text in texts:
        addresses = set(re.findall(r"https?://[^\s\"'<)]+", text))
        assert addresses <= {"http://www.w3.org/2000/svg"}


async def test_assets_are_kept_under_their_version_alone(stand: Stand) -> None:
    version = load_assets(stand.floor).version
    kept = await stand.get(f"/assets/{version}/signage.js")
    assert "immutable" in kept.headers["cache-control"]
    assert kept.headers["content-type"].startswith("text/javascript")
    assert (await stand.get("/assets/000000000000/signage.js")).status_code == 404
    assert (await stand.get(f"/assets/{version}/..%2Fsignage.py")).status_code == 404
