"""The other views in a real browser (past wins, links, people) and what each role may do there."""

from collections.abc import Awaitable, Mapping, Sequence
from typing import Final

import msgspec
import pytest
from playwright.async_api import Browser, Locator, Page, Route, expect

from meters.acts.claim_types import ClaimRow
from meters.acts.meter_changes import ParameterChange
from tests.browsers import check_accessible, sees
from tests.waiting import eventually_async
from tests.web.conftest import Sides
from tests.web.floor_hand import (
    ROYAL,
    SIZES,
    FloorRoom,
    answer,
    back,
    claim_card,
    dialog,
    evaluated,
    go,
    opened,
    press,
    resize,
    type_sign_in,
    warned,
)
from tests.web.in_memory import UNAPPROVED
from tests.web.stand import AT, CLAIM, FLOOR


def paid(number: int, **fields: object) -> ClaimRow:
    made = {
        "claim": f"h{number}", "order": str(100 + number), "state": "paid", "validated_by": "Flo",
        "validated_at": AT, "decided_by": "Finn", "decided_at": AT, "paid_by": "Finn",
        "paid_at": AT, "slip": f"PS-{number}",
    }  # fmt: skip
    return msgspec.convert(msgspec.to_builtins(CLAIM) | made | fields, ClaimRow)


def wins(page: Page) -> Locator:
    return page.locator(".wins .row")


@pytest.mark.slow
async def test_wins_of_a_round_are_together_under_its_sum(room: FloorRoom) -> None:
    """The sum has no rejected win. A filter can show only some wins of a round."""
    both = {"round": "R5", "turns": 2, "envy_state": "paid"}
    alone = {"round": "R5", "turns": 1, "amount": 0, "only_envy": True, "envy_state": "paid"}
    rows = (
        paid(1, turn=1, amount=100_000, hand_record="R5-3", **both),
        paid(2, turn=2, amount=5_000, hand_record="R5-5", envy_amount=0, envy=[], **both),
        paid(3, hand_record="R5-3", **alone),
        paid(4, round="R6", turns=2, state="rejected", envy_state="rejected"),
        paid(5, round="R6", turns=2, amount=7_000, envy_amount=0, envy=[], envy_state=None),
    )
    room.stand.claims.claims = {row.claim: row for row in rows}
    page = await room.signed_in("Audrey", "wins")
    heads = page.locator(".wins .round-head")
    await expect(heads).to_have_text([
        "TCP-03 · Round R6 2 wins, 1 rejected: $70.00",
        "TCP-03 · Round R5 3 wins: $1,050.00 + Envy $200.00",
    ])  # fmt: skip
    sums = wins(page).locator(".sum")
    await expect(sums).to_have_text(["$70.00", "$1,510.00", "$100.00", "$1,000.00", "$50.00"])
    await expect(wins(page).nth(3)).to_contain_text("+ Envy $100.00")
    room.stand.claims.put(paid(2, state="rejected", **both))
    await page.locator(".further summary").click()
    for size in SIZES:
        await resize(page, size)
        labels = ("From", "To, that day included")
        one, other = [await top(page.get_by_label(each, exact=True)) for each in labels]
        assert one == other, f"the dates of the search are in two rows: {size}"
    await page.get_by_label("State").select_option("paid")
    await press(page.locator(".search"), "Search")
    await expect(heads).to_have_text(["TCP-03 · Round R5 2 wins: $1,000.00 + Envy $200.00"])


async def top(of: Locator) -> float:
    box = await of.bounding_box()
    assert box is not None
    return box["y"]


@pytest.mark.slow
@pytest.mark.duty("D16", proof=True)
async def test_the_last_25_wins_of_a_progressive_and_then_earlier_ones(room: FloorRoom) -> None:
    """Duty D16: the wins of a progressive, latest first, page by page."""
    for number in range(30):
        room.stand.claims.claims[f"h{number}"] = paid(number)
    other = paid(90, link="pit-2", claim="other", table="TCP-90")
    room.stand.claims.claims[other.claim] = other
    page = await room.signed_in("Audrey")
    await go(page, "Wins")
    await expect(wins(page)).to_have_count(25)
    await expect(wins(page).first).to_contain_text("TCP-90")
    await page.get_by_label("Progressive").select_option("tcp-main progressive")
    await expect(wins(page).first).to_contain_text("TCP-03")
    await expect(wins(page)).to_have_count(25)
    await press(page, "Earlier wins")
    await expect(wins(page)).to_have_count(32)
    await expect(page.get_by_role("button", name="Earlier wins")).to_be_hidden()
    await page.get_by_label("Which wins").select_option("true")
    await expect(wins(page)).to_have_count(25)
    await press(page, "Earlier wins")
    await expect(wins(page)).to_have_count(31)
    # A win opens with everything and its slip.
    await wins(page).nth(28).get_by_role("link").click()
    pane = opened(page, paid(1))
    await sees(
        pane, "$1,510.00", "Mini-Royal, spades", "TCP-03", "asset 104213",
        "100% of the meter", "649a.12(e)(1)", "Flo, Nov 19, 2026, 21:14:07 EST",
        "Finn, Nov 19, 2026, 21:14:07 EST", "Paid by Finn, slip PS-1",
        "Win 1 of 2 of its round · entry 101", "Wagers at lock-out", "p3", "Envy Bonuses: ",
    )  # fmt: skip
    await expect(pane.get_by_role("link", name="payout slip, PDF")).to_be_visible()
    await resize(page, "phone")
    await back(page)
    await expect(wins(page).nth(28).get_by_role("link")).to_be_focused()


async def test_wins_are_found_by_words_table_state_and_day(room: FloorRoom) -> None:
    """Days are those of the facility: this win is of the 19th there, and of the 20th in UTC."""
    room.stand.claims.claims["h1"] = paid(1, at="2026-11-20T05:00:00Z", table="TCP-77")
    room.stand.claims.claims["h2"] = paid(2, state="rejected", reason="Card fouled")
    page = await room.signed_in("Flo", size="desk")
    await go(page, "Wins")
    await page.locator(".further summary").click()

    async def found(label: str, text: str, count: int) -> None:
        await page.get_by_label(label, exact=True).fill(text)
        await page.keyboard.press("Enter")
        await expect(wins(page)).to_have_count(count)

    await expect(wins(page)).to_have_count(4)
    await found("Words", "fouled", 1)
    await found("Words", "no such thing", 0)
    await expect(page.get_by_text("No wins found.")).to_be_visible()
    await found("Words", "", 4)
    await found("Table", "TCP-77", 1)
    await press(page, "Clear")
    await expect(wins(page)).to_have_count(4)
    await found("From", "2026-11-20", 1)
    await expect(wins(page)).to_contain_text("Nov 20, 2026, 00:00:00 EST")
    await press(page, "Clear")
    await found("To, that day included", "2026-11-19", 3)
    await page.get_by_label("State").select_option("rejected")
    await press(page.locator(".search"), "Search")
    await expect(wins(page)).to_have_count(1)


async def test_days_and_amounts_are_read_as_the_people_of_the_facility_mean_them(
    room: FloorRoom, browser: Browser, sides: Sides
) -> None:
    """In Sydney the clocks change between the beginning of the day and midnight in UTC."""
    page = await room.page(path="/floor")
    for day, later, begins in (
        ("2026-11-01", 0, "2026-11-01T04:00:00.000Z"),
        ("2026-11-01", 1, "2026-11-02T05:00:00.000Z"),
        ("2026-03-08", 0, "2026-03-08T05:00:00.000Z"),
        ("2026-03-08", 1, "2026-03-09T04:00:00.000Z"),
        ("2026-12-31", 1, "2027-01-01T05:00:00.000Z"),
    ):
        assert await evaluated(page, "format.dayStart(...given)", [day, later]) == begins
    for typed, cents in (
        ("10", 1_000), ("1,234.50", 123_450), ("$0.25", 25), (" 7.5 ", 750), ("1.", 100),
        ("", None), ("-5", None), ("1.234", None), ("1,23", None), ("1e3", None), ("ten", None),
    ):  # fmt: skip
        assert await evaluated(page, "format.typedCents(given)", typed) == cents, typed
    text = FLOOR.replace("[facility]", "[facility]\ndemonstration = true", 1)
    room = FloorRoom(await sides(text.replace("America/New_York", "Australia/Sydney")), browser)
    page = await room.page(path="/floor")
    found = await evaluated(page, "format.dayStart('2026-10-04')")
    assert found == "2026-10-03T14:00:00.000Z"
    for name in ("", "Flo"):
        if name:
            await room.sign_in(page, name)
        await expect(page.locator(".demonstration")).to_be_visible()


METER: Final = "meters/tcp-main/progressive"


def link(page: Page, name: str) -> Locator:
    return page.locator(f'section.link[data-link="{name}"]')


def meter(page: Page, of: str = "tcp-main", name: str = "progressive") -> Locator:
    """Return the pane of a meter, if it is open."""
    return page.locator(f'.detail[data-link="{of}"][data-meter="{name}"]')


@pytest.mark.duty("D3")
async def test_a_meter_whose_rates_change_shows_both(room: FloorRoom) -> None:
    links = room.stand.links
    above = {"threshold": 5_000_000, "primary_above_bps": 550, "reserve_above_bps": 1_950}
    meters = links.links_by_id["tcp-main"].meters
    links.put("tcp-main", meters=tuple(msgspec.structs.replace(one, **above) for one in meters))
    page = await room.signed_in("Sue")
    await go(page, "Meters")
    row = link(page, "tcp-main").locator('tr[data-meter="progressive"]')
    await sees(row, "20% + 5%, from $50,000.00 on 5.5% + 19.5%")
    await row.get_by_role("link").click()
    await sees(meter(page), "20%, from $50,000.00 on 5.5%", "5%, from $50,000.00 on 19.5%")


async def test_a_meter_shows_which_meter_gets_what_is_above_its_limit(room: FloorRoom) -> None:
    links = room.stand.links
    meters = links.links_by_id["tcp-main"].meters
    full = {"limit": 5_000_000, "overflow_to": "Grand Jackpot"}
    links.put("tcp-main", meters=tuple(msgspec.structs.replace(one, **full) for one in meters))
    page = await room.signed_in("Sue")
    await go(page, "Meters")
    row = link(page, "tcp-main").locator('tr[data-meter="progressive"]')
    await row.get_by_role("link").click()
    await sees(meter(page), "Limit$50,000.00", "Above the limitgoes to Grand Jackpot")


@pytest.mark.duty("D12", proof=True)
async def test_a_parameter_changes_only_while_closed_and_by_two(room: FloorRoom) -> None:
    """Duties D4 and D12: one person proposes, another confirms, on a link closed for a reason.

    A wager and a paytable with only the present value cannot be changed.
    """
    sue, sam = (
        await room.signed_in("Sue", METER, "desk"),
        await room.signed_in("Sam", METER, "phone"),
    )
    shown, links = link(sue, "tcp-main"), room.stand.links
    await sees(shown, "3 of 4 tables connected · 0 open rounds")
    button = meter(sue).get_by_role("button", name="Change a parameter")
    await expect(button).to_have_count(0)
    await sees(meter(sue), "Parameters can change only while the link is closed.")
    await press(shown, "Close the link")
    await warned(sue, "A reason is needed.", "Close the link")
    await dialog(sue).get_by_label("Reason").fill("New paytable")
    await answer(sue, "Close the link")
    await sees(shown, "Closed by Sue, Nov 19, 2026, 21:14:07 EST: New paytable.")
    wager = dialog(sue).get_by_label("New: wager").get_by_role("option")
    for wagers, paytables, choices in (((100, 250), ("A",), 3), ((100,), (), 2)):
        links.put_meter("tcp-main", "progressive", wagers=wagers, paytables=paytables)
        await sue.reload()
        await button.click()
        await expect(dialog(sue).get_by_role("radio")).to_have_count(choices)
        await expect(wager).to_have_text(["$1.00", "$2.50"] if len(wagers) > 1 else [])
    await expect(dialog(sue).get_by_label("New: limit")).to_be_visible()
    links.put_meter("tcp-main", "progressive", wagers=(100, 500), paytables=("A", "B"))
    await sue.reload()
    await button.click()
    await dialog(sue).get_by_text("Paytable", exact=True).click()
    await dialog(sue).get_by_label("New: paytable").select_option("B")
    await warned(sue, "A reason is needed.", "Propose")
    await dialog(sue).get_by_label("Why?").fill("The new Rules Submission")
    await answer(sue, "Propose")
    proposed = meter(sue).locator("[data-proposal]")
    await sees(
        proposed, "Progressive, paytable: A → B", "You proposed it: another person confirms."
    )
    await expect(proposed.get_by_role("button")).to_have_text(["Colleague confirms", "Withdraw"])
    await sees(link(sue, "tcp-main"), "1 proposal")
    await press(meter(sam), "Confirm")
    await sees(dialog(sam), "Proposed by Sue", "Reason: The new Rules Submission")
    await answer(sam, "Confirm")
    await expect(proposed).to_have_count(0)
    assert links.done[-1] == ("parameter", "tcp-main", "Sam", "P-1")
    await press(shown, "Open the link")
    await answer(sue, "Open the link")
    await expect(shown.get_by_role("button", name="Close the link")).to_be_visible()
    assert [what for what, *_ in links.done] == ["close", "propose", "parameter", "open"]


CLOSED: Mapping[str, object] = {"state": "inoperable", "closed_by": "Sue", "closed_at": AT}
IDLE: Final[Sequence[tuple[dict[str, object], list[str], list[str]]]] = (
    ({"state": "inoperable", "reason": "no broker"}, ["Close the link", "Adjust"], []),
    ({**CLOSED, "reason": "no broker"}, ["Open the link", "Change a parameter", "Confirm"], []),
    ({**CLOSED, "reason": "parameters do not fit", "wrong_parameters": True},
     ["Change a parameter", "Confirm"], ["Open the link"]),
)  # fmt: skip


@pytest.mark.slow
async def test_people_act_on_a_link_that_does_not_operate(room: FloorRoom) -> None:
    """Its tables cannot play. It opens only with parameters that fit, and two people set those."""
    links = room.stand.links
    change = ParameterChange(meter="progressive", parameter="wager", value=500, reason="as filed")
    await links.propose("tcp-main", "Sue", change)
    page = await room.signed_in("Sam", METER, "desk")
    shown = page.locator("main")
    for changed, acts, others in IDLE:
        links.put("tcp-main", **changed)
        await page.reload()
        await sees(shown, f"{changed['reason']}.".capitalize())
        for act in acts:
            await expect(shown.get_by_role("button", name=act).first).to_be_enabled()
        for act in others:
            await expect(shown.get_by_role("button", name=act)).to_have_count(0)


@pytest.mark.duty("D15")
async def test_a_meter_is_adjusted_by_two_who_both_see_the_warnings(room: FloorRoom) -> None:
    """A recorded act with a reason; a slip of the finger that adds $50,000 is withdrawn."""
    sue, ada = await room.signed_in("Sue", METER, "phone"), await room.signed_in("Ada", METER)
    asked, proposed = dialog(sue), meter(ada).locator("[data-proposal]")
    amount, figures = asked.get_by_label("Dollars and cents"), asked.locator(".figures")
    await press(meter(sue), "Adjust")
    await warned(sue, "add or subtract", "Propose")
    await asked.get_by_text("+ Add to the meter").click()
    await amount.fill("200")
    await sees(figures, "After$1,323.62", "Limitnone")
    await expect(asked.locator(".warning")).to_have_count(0)
    await amount.fill("50,000")
    told = (
        "This is more than the meter held at any of its last 25 wins: $1,500.00 at most.",
        "This moves the meter by 4450% of what it holds, more than 20%.",
    )
    await expect(asked.locator(".warning")).to_have_text(told)
    await warned(sue, "A reason is needed.", "Propose")
    await asked.get_by_label("What went wrong?").fill("A typing error")
    await answer(sue, "Propose")
    await expect(proposed.locator(".warning")).to_have_text(told)
    await press(meter(ada), "Confirm")
    await expect(dialog(ada).locator(".warning")).to_have_text(told)
    await sees(dialog(ada).locator(".figures"), "After$51,123.62")
    await press(meter(sue), "Withdraw")
    await answer(sue, "Withdraw")
    await warned(ada, "no open proposal", "Confirm")
    await answer(ada, "Close")
    await expect(proposed).to_have_count(0)
    await press(meter(sue), "Adjust")
    await asked.get_by_text("Subtract from the meter").click()
    await amount.fill("2,000")
    await sees(asked, "The meter holds only $1,123.62")
    await amount.fill("$23.5")
    await sees(asked, "$1,123.62 → $1,100.12")
    await asked.get_by_label("What went wrong?").fill("A sensor counted twice")
    await answer(sue, "Propose")
    await sees(proposed, "Progressive, adjusted by \u2212$23.50; it held $1,123.62 when proposed")
    await press(meter(ada), "Confirm")
    await answer(ada, "Confirm")
    await expect(meter(sue).locator(".amount")).to_have_text("$1,100.12")
    done = [what for what, *_ in room.stand.links.done]
    assert done == ["propose", "withdraw", "propose", "adjust"]


@pytest.mark.duty("D12")
async def test_a_changed_floor_file_is_shown_and_approved_by_those_who_may(room: FloorRoom) -> None:
    links = room.stand.links
    page = await room.signed_in("Sue", "meters", "phone", bypass_csp=True)
    shown = link(page, "tcp-main").locator(".unapproved")
    barred: tuple[tuple[dict[str, object], str], ...] = (
        ({"barred": "put meter high back into the floor file"},
         "Put meter high back into the floor file."),
        ({"first_by": "Sue"}, "You approved it first: another person approves it too."),
    )  # fmt: skip
    for changed, why in barred:
        links.put_unapproved("tcp-main", UNAPPROVED, **changed)
        await sees(shown, why)
        await expect(shown.get_by_role("button")).to_have_count(0)
    links.put_unapproved("tcp-main")
    auditor = link(await room.signed_in("Audrey", "meters"), "tcp-main").locator(".unapproved")
    await sees(auditor, "Table TCP-03 added")
    await expect(auditor.get_by_role("button")).to_have_count(0)
    await expect(shown.locator("li")).to_have_text(
        ["Table TCP-03 added", "Table TCP-01 positions: 7 → 6"]
    )
    await sees(shown, "Approved last by Ada, Nov 19, 2026")
    await check_accessible(page)
    await press(shown, "Approve the floor file")
    await sees(
        dialog(page), "Table TCP-01 positions: 7 → 6", "Meter progressive: seed $1,000.00",
        "Approved first by Ada", UNAPPROVED.digest,
    )  # fmt: skip
    links.put_unapproved("tcp-main", digest="6" * 64)
    await warned(page, "not what was shown", "Approve")
    await answer(page, "Close")
    await press(shown, "Approve the floor file")
    await answer(page, "Approve")
    await expect(shown).to_have_count(0)
    assert links.done == [("approve", "tcp-main", "Sue", "link")]


@pytest.mark.slow
@pytest.mark.duty("D12")
async def test_a_change_of_the_facility_is_shown_and_approved_once(room: FloorRoom) -> None:
    """Both links wait for it, and one of them for its own change too."""
    tax = "tax documents for wins from: $600.00 → $2,000.00"
    for link_id, own in (("tcp-main", ()), ("pit-2", ("meter progressive wager: $1.00 → $5.00",))):
        room.stand.links.put_unapproved(link_id, changed=(tax, *own), facility=(tax,))
    page = await room.signed_in("Sue", "meters", "phone")
    shown = page.locator(".unapproved.all")
    await expect(
        page.get_by_text("Tax documents for wins from: $600.00 → $2,000.00")
    ).to_have_count(1)
    await sees(shown, "For the whole facility, 2 links:", "Meter progressive wager: $1.00 → $5.00")
    await press(shown, "Approve for 2 links")
    await expect(dialog(page).get_by_text("Tax documents for wins from")).to_have_count(1)
    await answer(page, "Approve for 2 links")
    await expect(page.locator(".unapproved")).to_have_count(0)
    done = [(what, link_id, by) for what, link_id, by, *_ in room.stand.links.done]
    assert sorted(done) == [("approve", "pit-2", "Sue"), ("approve", "tcp-main", "Sue")]


@pytest.mark.duty("D17")
async def test_what_was_done_with_a_link_is_shown_with_its_seals(room: FloorRoom) -> None:
    """Duty D17: the acts are listed with who did them. Staff copy the seals to another place."""
    links = room.stand.links
    for number in range(30):
        await links.close("tcp-main", "Sue", f"reason {number}")
        await links.open("tcp-main", "Sam")
    won = "Mini-Royal, spades, $1,510.00; slip S-1"
    for what, of, table, told in (
        ("result", "R1", "TCP-01", "round R1: position 3 As Ks Qs, taken back"),
        ("void", "R2", "TCP-02", "round R2: Misdeal; entered: dealer 2c 3c 4c"),
        ("pay", "TCP-03-R9-1", "TCP-03", won),
    ):
        hand = "R9-3" if what == "pay" else ""
        links.note("tcp-main", what, f"table:{table}", of, told, table, hand)
    page = await room.signed_in("Audrey", METER, "desk")
    shown = meter(page)
    await press(shown, "Link log")
    acts = shown.locator(".entries li")
    await expect(acts).to_have_count(25)
    for at, texts in enumerate((
        ("Nov 19, 2026, 21:14:07 EST", f"TCP-03 · {won} · claim TCP-03-R9-1"),
        ("Round void after cards were entered",
         "TCP-02 · round R2: Misdeal; entered: dealer 2c 3c 4c"),
        ("Hand entered again", "position 3 As Ks Qs, taken back"),
        ("Link opened",),
    )):  # fmt: skip
        await sees(acts.nth(at), *texts)
    await press(shown, "Earlier")
    await expect(acts).to_have_count(50)
    await sees(shown, "reason 10")
    last = page.locator(".last-done")
    await sees(
        last, "Ledger balanced", "to entry 12", "gaming day 2026-11-18", "to gaming day 2026-11-17",
        "hand entered again", won, "Three Card Poker Jackpot",
    )  # fmt: skip
    await expect(last.locator(".entries li")).to_have_count(5)
    await last.locator("summary").click()
    await sees(last, "Pit 2, entry 12: 5ea1", "Operators' log, entry 34: 0b570b57")


async def held_answer(page: Page, path: str, cause: Awaitable[object]) -> Route:
    held: list[Route] = []

    async def hold(route: Route) -> None:
        held.append(route)

    await page.route(f"**/api/v1/{path}", hold, times=1)
    await cause
    await eventually_async(lambda: held)
    return held[0]


async def let_go(page: Page, path: str, answering: Awaitable[None]) -> None:
    """Let the held request be answered, and wait until the page has read the answer."""
    async with page.expect_response(f"**/api/v1/{path}") as answered:
        await answering
    await (await answered.value).finished()
    await evaluated(page, f"await api.get('/api/v1/{path}')")


async def test_an_answer_that_was_overtaken_does_not_hide_the_later_one(room: FloorRoom) -> None:
    page = await room.signed_in("Sue", "meters")
    state = link(page, "tcp-main").locator(".chip").first
    await expect(state).to_have_text("Open")
    closing = room.stand.links.close("tcp-main", "Ada", "end of day")
    held = await held_answer(page, "links", closing)
    # The request is sent now and answered later.
    earlier = await held.fetch()
    room.stand.links.put_unapproved("tcp-main")
    await expect(state).to_have_text("Inoperable")
    await let_go(page, "links", held.fulfill(response=earlier))
    await expect(state).to_have_text("Inoperable")


@pytest.mark.slow
async def test_an_answer_for_a_view_that_was_left_is_no_error(room: FloorRoom) -> None:
    page = await room.signed_in("Ada", "wins")
    progressive = page.get_by_label("Progressive", exact=True)
    await expect(progressive).to_be_visible()  # this view reads the links too
    for view, path in (("Meters", "links"), ("People", "users")):
        held = await held_answer(page, path, go(page, view))
        await go(page, "Wins")
        await expect(progressive).to_be_visible()
        await let_go(page, path, held.continue_())
    assert room.errors == []


async def type_pins(page: Page, pin: str, again: str) -> None:
    for label, typed in (("PIN", pin), ("The PIN again", again)):
        await dialog(page).get_by_label(label, exact=True).fill(typed)


async def test_an_administrator_adds_a_user_who_signs_in(room: FloorRoom) -> None:
    page = await room.signed_in("Ada", "people")
    await press(page, "Add a user")
    await dialog(page).get_by_label("Name").fill("Noah")
    await warned(page, "A role is needed.", "Add")
    await dialog(page).get_by_text("Floorperson").click()
    await type_pins(page, "264907", "264908")
    await warned(page, "The two PINs differ.", "Add")
    await type_pins(page, "111111", "111111")
    await warned(page, "A PIN of repeated or mirrored digits", "Add")
    await type_pins(page, "264907", "264907")
    await answer(page, "Add")
    await sees(page.locator('[data-user="Noah"]'), "Floorperson")
    await sees(page.locator(".log li").first, "User added")
    other = await room.page(path="/floor")
    await type_sign_in(other, "Noah", "264907")
    await sees(other.locator(".who"), "Noah floorperson")


@pytest.mark.slow
async def test_each_role_has_its_views_and_its_buttons(room: FloorRoom) -> None:
    """A dealer sees no Envy Bonus and no wagers, and has one view; an auditor decides nothing."""
    views = ["Inbox", "Floor", "Wins", "Meters", "History", "Reports", "Find", "People"]
    for name, count, decides, changes_links in (
        ("Dana", 0, False, False), ("Flo", 7, True, False), ("Sue", 7, True, True),
        ("Audrey", 8, False, False), ("Ada", 8, False, True),
    ):  # fmt: skip
        page = await room.signed_in(name)
        card, buttons = await claim_card(page), page.locator("main").get_by_role("button")
        await expect(card).to_contain_text("$1,510.00")
        assert (await card.get_by_role("button").count() > 0) == decides, name
        if name == "Dana":
            await expect(card.get_by_role("link")).to_have_count(0)
            for hidden in ("p3", "Envy", "lock-out"):
                await expect(card).not_to_contain_text(hidden)
            await expect(page.locator("nav")).to_be_hidden()
            continue
        await sees(card, "Patronp3")
        if not decides:
            await sees(card, "A floorperson or a supervisor decides.")
        tabs = page.locator("nav a")
        await expect(tabs).to_have_count(count)
        shown = [text.split("\n")[0].strip("0123456789 ") for text in await tabs.all_inner_texts()]
        assert shown == views[:count]
        await go(page, "Meters")
        changing = page.locator(".link header button, .acts-bar button")
        await expect(link(page, "tcp-main")).to_be_visible()
        assert (await changing.count() > 0) == changes_links, name
        await link(page, "tcp-main").get_by_role("link", name="Progressive").first.click()
        await expect(meter(page)).to_contain_text("Rate to the meter")
        assert (await changing.count() > 0) == changes_links, name
        if name == "Audrey":
            await go(page, "People")
            await expect(page.locator('[data-user="Flo"]')).to_be_visible()
            await expect(buttons).to_have_count(0)


async def test_names_are_text_and_never_markup(room: FloorRoom) -> None:
    odd = '<img src="x" onerror="window.hurt = 1"> & <b>p</b>'
    room.stand.claims.put(ROYAL, patron=odd, table="<i>T</i>", hand_name="<b>Royal</b>")
    page = await room.signed_in("Flo")
    await sees(await claim_card(page, ROYAL), f"Patron{odd}")
    await go(page, "Wins")
    await expect(wins(page).first).to_contain_text("<b>Royal</b>")
    assert await page.locator("main img, main b b, main a i").count() == 0
    assert await page.evaluate("window.hurt === undefined")


@pytest.mark.slow
async def test_the_page_is_small_and_asks_nobody_else(room: FloorRoom) -> None:
    page = await room.page("phone")
    urls: list[str] = []
    page.on("requestfinished", lambda asked: urls.append(asked.url))
    await room.sign_in(page, "Ada", "people")
    await expect(page.locator(".users li")).to_have_count(7)
    assert all(url.startswith(room.stand.url) for url in urls)
    await eventually_async(lambda: any("/floor.js" in url for url in urls))
    paths = {url.removeprefix(room.stand.url).partition("#")[0] for url in urls}
    total = 0
    for path in {path for path in paths if path == "/floor" or path.startswith("/assets/")}:
        answered = await room.stand.get(path)
        total += answered.num_bytes_downloaded
    assert 20_000 < total < 200_000
