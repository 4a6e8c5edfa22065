import json
from collections.abc import AsyncIterator
from typing import Final

import msgspec
import pytest
import pytest_asyncio
from playwright.async_api import Browser, Page, expect

from bonus.settling.settle_round import settle_line
from tests.browsers import check_accessible, sees
from tests.waiting import eventually_async
from tests.web.conftest import Sides
from tests.web.floor_hand import FloorRoom, account, claim_card
from tests.web.in_memory import VIEW
from tests.web.settle_hand import (
    FLOOR,
    ROUNDS,
    Round,
    deal,
    enter,
    expected_lines,
    problem,
    shown_lines,
    tap,
)
from tests.web.stand import CLAIM, Stand

PATH: Final = "/api/v1/settlements"


@pytest_asyncio.fixture(loop_scope="session")
async def disputes(sides: Sides, browser: Browser) -> AsyncIterator[FloorRoom]:
    room = FloorRoom(await sides(FLOOR), browser)
    yield room
    await room.leave()


async def opened(room: FloorRoom, size: str = "tablet") -> Page:
    page = await room.signed_in("Flo", size=size, bypass_csp=True)
    await page.goto(f"{room.stand.url}/settle")
    await expect(page.get_by_role("button", name="Settle", exact=True)).to_be_visible()
    return page


@pytest.mark.parametrize(
    ("table", "size"),
    [
        pytest.param("TCP-03", "phone", marks=pytest.mark.slow),
        pytest.param("TPR-01", "phone", marks=pytest.mark.slow),
        ("FPR-01", "tablet"),
        ("KD-01", "tablet"),
        ("KB-01", "tablet"),
        ("KJ-01", "tablet"),
        ("KF-01", "tablet"),
    ],
)
async def test_a_whole_round_of_each_game_is_settled_as_by_the_command(
    disputes: FloorRoom, table: str, size: str
) -> None:
    page = await opened(disputes, size=size)
    await enter(page, table, ROUNDS[table])
    await tap(page, "Settle")
    assert await shown_lines(page) == expected_lines(ROUNDS[table])
    assert not await page.evaluate("document.documentElement.scrollWidth > innerWidth")
    await check_accessible(page)
    if table == "FPR-01":
        await check_totals_and_print(page)
    if table == "TPR-01":
        await page.locator("#irregularity").select_option("void")
        await tap(page, "Settle")
        void = expected_lines({**ROUNDS[table], "irregularity": "void"})
        await eventually_async(lambda: shows(page, void), what="every wager returned")


async def shows(page: Page, lines: list[tuple[str, ...]]) -> bool:
    return await shown_lines(page) == lines


async def check_totals_and_print(page: Page) -> None:
    await expect(page.locator(".totals [data-position]")).to_have_text(
        ["6$25.00$25.00$50.00$10.00", "2$1,000.00$20.00$1,020.00$35.00"]
    )
    await expect(page.get_by_role("button", name="Print")).to_be_visible()
    await page.emulate_media(media="print")
    await sees(
        page.locator(".result"), "Test House", "table FPR-01", "EST",
        "Dealer's hand: K♣ K♦ K♥ K♠ 3♦ 4♦", "Position 2: Ante $10.00, Raise $30.00",
        "payout limit $50,000.00", "Floorperson", "Supervisor",
    )  # fmt: skip
    await expect(page.locator(".signatures")).to_be_visible()
    await expect(page.locator(".entered")).to_be_visible()
    await expect(page.locator(".work")).to_be_hidden()


@pytest.mark.slow
async def test_a_corrected_card_of_the_flop_stays_in_its_place(disputes: FloorRoom) -> None:
    page = await opened(disputes)
    await page.locator("#table").select_option("KF-01")
    await tap(page, "Position 2")
    wrong = ["Qs", "Jh", "Ts", "2c"]
    await deal(page, "Community cards in the order of the deal", wrong)
    await tap(page, "Take out jack of hearts")
    places = page.locator('[data-hand="community"] .slots > *')
    assert await places.evaluate_all("(all) => all.map((one) => one.className)") == [
        "out", "slot", "out", "gap", "out", "slot",
    ]  # fmt: skip
    for card in ("Js", "3d"):
        await page.locator(f'[data-card="{card}"]').tap()
    names = page.locator('[data-hand="community"] .card')
    await expect(names).to_have_count(5)
    assert await names.evaluate_all("(all) => all.map((one) => one.ariaLabel)") == [
        "queen of spades", "jack of spades", "ten of spades", "two of clubs", "three of diamonds",
    ]  # fmt: skip


@pytest.mark.slow
async def test_a_table_shows_what_it_offers_and_all_errors_are_next_to_their_fields(
    disputes: FloorRoom,
) -> None:
    """Used cards are dimmed, and a tap takes a card out."""
    page = await opened(disputes)
    await tap(page, "Position 2")
    await deal(page, "Hand of position 2", ["As", "Ks", "Qs"])
    await expect(page.locator("#pad-title")).to_have_text("Dealer's hand")
    ace, king = (page.locator(f'[data-card="{card}"]') for card in ("As", "Ks"))
    await expect(ace).to_be_disabled()
    await tap(page, "Take out ace of spades")
    await expect(page.locator("#pad-title")).to_have_text("Hand of position 2")
    await expect(ace).to_be_enabled()
    await king.tap()
    await expect(king).to_have_attribute("aria-pressed", "false")
    await expect(page.locator('[data-hand="2.cards"] .card')).to_have_count(1)
    await page.reload()
    await page.locator("#table").select_option("FPR-01")
    await tap(page, "Position 1")
    labels = page.locator('[data-position="1"] .wagers label')
    await expect(labels).to_have_text(
        ["Ante", "Raise", "Prime", "Aces Bonus", "All Six", "Player, if at several positions"]
    )
    await page.locator("#table").select_option("TCP-09")
    await expect(
        page.get_by_text("The floor file has no ante_bonus for this table")
    ).to_be_visible()
    await expect(page.get_by_role("button", name="Settle", exact=True)).to_have_count(0)
    await page.reload()
    await page.locator("#table").select_option("TPR-01")
    await tap(page, "Settle")
    await expect(problem(page, "")).to_have_text("Choose the positions in this round.")
    for number in (1, 2, 4):
        await tap(page, f"Position {number}")
    for field, typed in (
        ("1.wagers.ante", "ten"), ("2.wagers.ante", "10"), ("2.wagers.play", "5"),
        ("2.wagers.pair_bonus", "5"),
    ):  # fmt: skip
        await page.locator(f'[id="{field}"]').fill(typed)
    await deal(page, "Hand of position 2", ["As", "Ks"])
    await tap(page, "Settle")
    for field, text in {
        "1.wagers.ante": "Enter an amount such as 5 or 12.50.",
        "2.wagers.play": "Play of $5.00: it equals the Ante (679a.7(d)(1)).",
        "2.fourth_card": "Pair Bonus: neither the position nor the table has a fourth card",
        "1.cards": "Position 1 has no cards",
        "2.cards": "Enter 3 cards: there are 2.",
        "4.cards": "Position 4 has no cards",
        "dealer": "The dealer's hand is missing",
    }.items():
        await expect(problem(page, field)).to_contain_text(text)
    await expect(page.locator('[id="2.wagers.play"]')).to_have_attribute("aria-invalid", "true")


@pytest.mark.slow
@pytest.mark.parametrize(("words", "titles"), [
    ("For each player", ["Hand of position 1", "Fourth card of position 1", "Hand of position 4",
                         "Dealer's hand"]),
    ("One for all", ["Hand of position 1", "Hand of position 4", "Dealer's hand",
                     "Pair Bonus card for all"]),
])  # fmt: skip
async def test_the_pad_goes_on_by_itself_to_each_card_that_is_needed(
    disputes: FloorRoom, words: str, titles: list[str]
) -> None:
    page = await opened(disputes, size="phone")
    await page.locator("#table").select_option("TPR-01")
    for number in (1, 4):
        await tap(page, f"Position {number}")
    await page.locator('[id="1.wagers.pair_bonus"]').fill("5")
    await tap(page, words)
    await tap(page, "Enter cards: Hand of position 1")
    cards = iter(["As", "Ks", "Qs", "2s", "Ah", "Kh", "Qh", "Ad", "Kd", "Qd"])
    for title in titles:
        await expect(page.locator("#pad-title")).to_have_text(title)
        for _ in range(1 if "card" in title else 3):
            await page.locator(f'[data-card="{next(cards)}"]').tap()
    await expect(page.locator("#pad-title")).to_be_hidden()


@pytest.mark.slow
async def test_the_floor_page_opens_the_round_of_a_win_and_names_what_is_not_known(
    disputes: FloorRoom,
) -> None:
    three, five = VIEW.hands
    disputes.stand.history.view = msgspec.structs.replace(
        VIEW, community=("Js", "Ts"),
        hands=(three, msgspec.structs.replace(
            five, folded=False, no_win=True, wagers={"progressive": 500})),
    )  # fmt: skip
    disputes.stand.claims.put(CLAIM)
    floor = await disputes.signed_in("Flo", bypass_csp=True)
    async with floor.context.expect_page() as found:
        await (await claim_card(floor)).get_by_role("link", name="Dispute").click()
    page = await found.value
    known = page.locator(".known")
    await expect(known).to_contain_text("From round R9")
    await expect(known).to_contain_text("Not known here: Ante, Play, Pair Plus and Six Card Bonus")
    await expect(known).to_contain_text("Progressive was $5.00 in this round and is $1.00 now")
    await expect(page.locator("#table")).to_have_value("TCP-03")
    await expect(page.locator('[data-hand="3.cards"] .card')).to_have_count(3)
    await expect(page.locator('[data-hand="dealer"] .card')).to_have_count(3)
    await expect(page.locator('[id="meters.progressive"]')).to_have_value("1,510.00")
    await expect(page.locator('[id="3.player"]')).to_have_value("p3")
    await expect(page.locator("[data-position]")).to_have_count(1)
    await tap(page, "Add the other positions: 5")
    await expect(page.locator("[data-position]")).to_have_count(2)
    for number in (3, 5):
        await page.locator(f'[id="{number}.wagers.ante"]').fill("5")
        await tap(page, f"1 times the Ante, position {number}")
    await tap(page, "Settle")
    assert await shown_lines(page) == expected_lines({
        "game": "three_card_poker", "paytables": ROUNDS["TCP-03"]["paytables"],
        "positions": [
            {"position": 3, "patron": "p3", "cards": list(three.cards),
             "wagers": {"ante": 500, "play": 500, "progressive": 100}},
            {"position": 5, "no_win": True,
             "wagers": {"ante": 500, "play": 500, "progressive": 100}},
        ],
        "dealer": list(VIEW.dealer), "community": ["Js", "Ts"],
        "meters": {"progressive": {"wager": 100, "amount": 151_000}},
    })  # fmt: skip
    await expect(page.locator(".result")).to_contain_text("claim c1, round R9")
    await tap(page, "Empty the form")
    await expect(known).to_have_count(0)
    await enter(page, "FPR-01", ROUNDS["FPR-01"])
    await tap(page, "Settle")
    await expect(page.locator(".lines")).to_be_visible()
    await expect(page.locator(".result")).not_to_contain_text("claim")


async def test_find_opens_a_round_of_which_the_disputed_position_is_chosen(
    disputes: FloorRoom,
) -> None:
    """The meters are as at the settlement, and not as they are now."""
    disputes.stand.put(999_900, 1)
    floor = await disputes.signed_in("Flo", "find/tcp-main%2F15")
    async with floor.context.expect_page() as found:
        await floor.get_by_role("link", name="Dispute").click()
    page = await found.value
    known = page.locator(".known")
    await sees(known, "From round R9", "Touch the disputed position: 3 and 5.")
    await expect(page.locator("[data-position]")).to_have_count(0)
    await tap(page, "Position 5")
    await sees(known, "Position 3 also won from a meter in this round: add that position.")
    place = page.locator('[data-position="5"]')
    for name in ("Folded", "Progressive $1.00, position 5"):
        await expect(place.get_by_role("button", name=name, exact=True)).to_have_attribute(
            "aria-pressed", "true"
        )
    await expect(page.locator('[data-hand="dealer"] .card')).to_have_count(3)
    await expect(page.locator('[id="meters.progressive"]')).to_have_value("1,510.00")
    await tap(page, "Add the other positions: 3")
    await expect(page.locator('[data-hand="3.cards"] .card')).to_have_count(3)
    await expect(known).not_to_contain_text("too: add it")


@pytest.mark.slow
@pytest.mark.duty("D20")
async def test_the_page_asks_to_sign_in_and_goes_on_when_somebody_has(disputes: FloorRoom) -> None:
    page = await disputes.page(path="/settle")
    await expect(page.get_by_role("heading", name="Sign in to settle a round")).to_be_visible()
    async with page.context.expect_page() as found:
        await page.get_by_role("link", name="Sign in at the floor page").tap()
    floor = await found.value
    await disputes.sign_in(floor, "Dana")
    await expect(page.get_by_role("button", name="Settle", exact=True)).to_be_visible()
    await account(floor, "Sign out")
    await expect(page.get_by_role("heading", name="Sign in to settle a round")).to_be_visible()


async def test_the_route_answers_as_the_command_and_refuses_with_the_field(stand: Stand) -> None:
    prime = ROUNDS["TPR-01"]
    refused: list[tuple[Round, str, str | None]] = [
        ({"dealer": ["Qc", "7d"]}, "wrong_cards", "dealer"),
        ({"dealer": ["Qc", "7d", "9s"]}, "card_twice", "dealer"),
        ({"color": "red"}, "malformed", None),
        ({"game": "snap"}, "unknown_game", "game"),
    ]
    async with stand.signed_in("Dana") as staff:
        for given in (ROUNDS[table] for table in ("TCP-03", "TPR-01", "FPR-01")):
            answer = await staff.post(PATH, given)
            settled = msgspec.json.encode(settle_line(json.dumps(given).encode()))
            assert (answer.status_code, answer.content) == (200, settled)
        for changed, code, field in refused:
            answer = await staff.post(PATH, prime | changed)
            error = answer.json()["error"]
            assert (answer.status_code, error["code"], error.get("field")) == (400, code, field)
        twice = json.dumps(prime)[:-1] + ', "dealer": ["3c", "4c", "5c"]}'
        answer = await staff.post(PATH, twice)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, "bad_request")
