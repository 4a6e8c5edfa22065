"""Proposals of parameters of a meter that several games feed, or that shares a wager (duty D12)."""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from pathlib import Path
from typing import TypeVar

import msgspec
import pytest
from redis.asyncio import Redis

from meters.acts.act_refusals import ActError
from meters.acts.link_view import LinkView
from meters.acts.links import Links
from meters.acts.meter_changes import ParameterChange, words_of
from meters.floor.floor_file import Meter
from meters.ledger.entry_messages import Change
from meters.ledger.money_terms import LinkTerms, terms_text
from meters.ledger.two_people import PinSetters
from meters.service.ledger_auditing import NOT_AUDITED
from meters.store.floor_file_approval import Configuration
from meters.store.link_acts import NewTerms, decide_change, propose_change
from tests.approving import approve
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE
from tests.games.texts import ROWS, envy_text, game_text, tier_rows, wager_text
from tests.model.pit import CENT, Pit, not_approved, to
from tests.model.running import running
from tests.servers import eventually_async

LINK = "pit"
Said = TypeVar("Said")
TIERS = ("keystone_mega", "keystone_major", "keystone_minor")
MINOR = TIERS[-1]
HOUSE_FLOOR = floor_text(
    link_text(
        LINK,
        *map(meter_text, TIERS),
        table_text("T-1", *TIERS, game="river_duel"),
        table_text("T-2", *TIERS, game="keystone_stud"),
    ),
    games=str(HOUSE),
)
"""River Duel has no Envy Bonuses. Keystone Stud has them for a wager of $1 only."""

FIVE = """
[[wager.envy.schedule]]
wager = "$5"
pays = { royal_flush = "$2,500" }
"""

pytestmark = pytest.mark.duty("D12")


def choice_wager(name: str, letters: str, reseeds: Sequence[str]) -> str:
    def cells(values: Sequence[str]) -> str:
        return "[" + ", ".join(f'"{value}"' for value in values) + "]"

    seed = "$100 for 1"
    text = wager_text(name, "m", seed=seed).replace(
        '[[wager.table]]\nrule = "H.4"',
        f'[[wager.table]]\nrule = "H.4"\nchoices = {cells(letters)}',
    )
    for key, cell in (ROWS | {"seed": seed, "reseed": seed, "primary": "5%"}).items():
        values = reseeds if key == "reseed" else [cell] * len(letters)
        text = text.replace(f'\n{key} = "{cell}"', f"\n{key} = {cells(values)}")
    return text


def one_has_more_paytables(directory: Path) -> Path:
    """Write two games that feed one meter: `one` has the paytables A and B, `two` only A."""
    return write(
        directory,
        one=game_text("one", ["m"], choice_wager("w1", "AB", ["$100 for 1"] * 2)),
        two=game_text("two", ["m"], choice_wager("w2", "A", ["$100 for 1"])),
    )


def floor_of(games: Path, meters: Mapping[str, str | None], *games_of_tables: str) -> str:
    """Return a floor file with a table for each game. Every table feeds every meter.

    `meters` has the paytable of each meter, None if there is no choice.
    """
    tables = [
        table_text(f"T-{number}", *meters, game=game, positions=6)
        for number, game in enumerate(games_of_tables, 1)
    ]
    texts = [meter_text(meter, paytable=paytable) for meter, paytable in meters.items()]
    return floor_text(link_text(LINK, *texts, *tables), games=str(games))


def write(directory: Path, **games: str) -> Path:
    for name, text in games.items():
        (directory / f"{name}.toml").write_text(text)
    return directory


async def opened(redis: Redis, text: str, *, closed: bool = True) -> Pit:
    pit = await Pit.opened(redis, text)
    if closed:
        await pit.link_acts.close(LINK, "sue", "new parameters")
    return pit


async def view_of(links: Links) -> LinkView:
    (view,) = await links.links()
    return view


async def refused(links: Links, request: ParameterChange) -> str:
    with pytest.raises(ActError) as error:
        await links.propose(LINK, "sue", request)
    assert error.value.code == "bad_value"
    return error.value.message


async def carry(links: Links, request: ParameterChange) -> None:
    proposed = await when_audited(lambda: links.propose(LINK, "sue", request))
    confirmed = await when_audited(lambda: links.confirm(LINK, proposed.proposal, "tim"))
    assert confirmed.state == "confirmed"


async def when_audited(act: Callable[[], Awaitable[Said]]) -> Said:
    """Perform an act again until the link is not refusing it because of a running audit.

    A link audits its whole ledger after each change of its terms.
    """

    async def accepted() -> list[Said]:
        try:
            return [await act()]
        except ActError as error:
            if error.message != NOT_AUDITED:
                raise
            return []

    (said,) = await eventually_async(accepted, what="the end of the audit")
    return said


async def stored(pit: Pit) -> Mapping[str, str]:
    meters = (await pit.store.snapshot()).meters
    return {name: value for name, value in meters.items() if name.startswith("terms")}


async def proposed_before(pit: Pit, request: ParameterChange, before: str) -> Change:
    """Store a proposal as a service with other game files does."""
    proposal = Change(
        f"P-{request.meter}", "parameter", request.meter, "sue", before, str(request.value),
        request.reason, parameter=request.parameter, value=request.value,
    )  # fmt: skip
    await propose_change(
        pit.store, proposal.proposal, "parameter", "sue", msgspec.json.encode(proposal)
    )
    return proposal


async def changed_before(pit: Pit, meter_id: str, wager: int) -> None:
    """Change the wager of a meter as a service with other game files does."""
    meter = next(one for one in pit.store.link.meter if one.meter_id == meter_id)
    request = to(meter_id, "wager", wager)
    proposal = await proposed_before(pit, request, words_of(meter, "wager"))
    after: Meter = msgspec.structs.replace(meter, wager=wager)
    meters = tuple(after if one is meter else one for one in pit.store.link.meter)
    digest = LinkTerms(msgspec.structs.replace(pit.store.link, meter=meters)).digest
    await decide_change(
        pit.store,
        proposal.proposal,
        "confirm",
        "tim",
        msgspec.json.encode(
            msgspec.structs.replace(proposal, confirmed_by="tim", terms=terms_text(after))
        ),
        meter=meter_id,
        terms=NewTerms(terms_text(meter), terms_text(after), digest),
        setters=PinSetters(),
    )
    await pit.store.open("service")


@pytest.mark.parametrize("value", [500, 50])
async def test_the_wager_of_one_tier_cannot_be_proposed(keeping_redis: Redis, value: int) -> None:
    pit = await opened(keeping_redis, HOUSE_FLOOR)
    said = await refused(pit.link_acts, to(MINOR, "wager", value))
    assert "keystone_bonus of river_duel feeds keystone_mega and keystone_minor" in said
    assert "both need the same wager and paytable; a proposal changes only one meter" in said
    assert "write new meters with the new terms, each with another id, into the floor file" in said
    assert (await pit.shown_meter(MINOR)).wagers == (100,)


async def test_new_meters_in_the_floor_file_change_the_wager_of_all_tiers(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """The refusal names this way. The old meters remain in the floor file, without tables."""
    tiered = wager_text("tiered", "mega", "minor", rows=tier_rows("mega", "minor"))
    games = write(tmp_path, g=game_text("g", ["mega", "minor"], tiered))
    text = floor_of(games, {"mega": None, "minor": None}, "g")
    pit = await opened(keeping_redis, text, closed=False)
    new = [meter_text(meter, 50, id=f"{meter}-50") for meter in ("mega", "minor")]
    head, tables = text.split("[[link.table]]")
    tables = tables.replace('"mega"', '"mega-50"').replace('"minor"', '"minor-50"')
    again = Pit(keeping_redis, "\n".join([head, *new, f"[[link.table]]{tables}"]))
    approvals = Configuration(again.floor, again.store)
    await not_approved(approvals)
    await approve(approvals)
    await again.open()
    positions = [{"position": 1, "wagers": {"tiered": 50}}]
    reply = await again.event("T-1", "wagers", "R1", positions=positions)
    assert reply.status == "accepted"
    assert await again.meter("mega-50") == (50 * 100 * CENT) + 50 * 500
    assert await again.meter("mega") == await pit.meter("mega") == 100 * 100 * CENT
    assert (await again.audit()).balanced


async def test_a_paytable_that_only_one_of_the_games_has_cannot_be_proposed(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    games = one_has_more_paytables(tmp_path)
    pit = await opened(keeping_redis, floor_of(games, {"m": "A"}, "one", "two"))
    assert (await pit.shown_meter("m")).paytables == ("A",)
    said = await refused(pit.link_acts, to("m", "paytable", "B"))
    assert said == (
        "in two, m: H.4 has the paytables A, not 'B'; propose a value that has the same terms in"
        " one and two"
    )
    proposal = await proposed_before(pit, to("m", "paytable", "B"), "paytable A")
    before = await stored(pit)
    with pytest.raises(ActError, match="in two"):
        await pit.link_acts.confirm(LINK, proposal.proposal, "tim")
    assert await stored(pit) == before


async def test_a_paytable_with_another_reseed_in_a_game_cannot_be_proposed(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    games = write(
        tmp_path,
        one=game_text("one", ["m"], choice_wager("w1", "AB", ["$100 for 1"] * 2)),
        two=game_text("two", ["m"], choice_wager("w2", "AB", ["$100 for 1", "$200 for 1"])),
    )
    pit = await opened(keeping_redis, floor_of(games, {"m": "A"}, "one", "two"))
    assert (await pit.shown_meter("m")).paytables == ("A",)
    said = await refused(pit.link_acts, to("m", "paytable", "B"))
    assert said == (
        "two and one cannot feed the same m meter: its reseed is $200.00 in two, but"
        " $100.00 in one; propose a value that has the same terms in one and two"
    )


async def test_a_value_that_all_games_allow_can_be_proposed(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """One game has Envy Bonuses for $1 and $5. The other game allows every amount."""
    envy = envy_text(royal_flush="$500")
    both = ["$100 for 1", "$100 for 1"]
    games = write(
        tmp_path,
        one=game_text("one", ["m"], choice_wager("w1", "AB", both)),
        two=game_text("two", ["m"], choice_wager("w2", "BA", both) + envy + FIVE),
    )
    pit = await opened(keeping_redis, floor_of(games, {"m": "A"}, "one", "two"))
    meter = await pit.shown_meter("m")
    assert (meter.wagers, meter.paytables) == ((100, 500), ("A", "B"))
    assert "in two, m: the wager is $1 or $5" in await refused(pit.link_acts, to("m", "wager", 200))
    await carry(pit.link_acts, to("m", "paytable", "B"))
    await pit.adopt()
    assert (await pit.shown_meter("m")).paytable == "B"
    assert (await pit.audit()).balanced


@pytest.mark.parametrize("changed", [[MINOR], [MINOR, TIERS[0]]], ids=["one", "two"])
async def test_a_link_with_parameters_that_do_not_fit_is_put_right_by_proposals(
    keeping_redis: Redis, tmp_path: Path, changed: list[str]
) -> None:
    """The link is inoperable until each meter has the value of the floor file again."""
    pit = await opened(keeping_redis, HOUSE_FLOOR)
    for meter in changed:
        await changed_before(pit, meter, 500)
    again = Pit(keeping_redis, HOUSE_FLOOR)
    async with running(again, tmp_path) as link:
        links = Links({LINK: link.service}, {LINK: ()})
        await link.goes_down("parameters do not fit: keystone_bonus of river_duel feeds")
        view = await view_of(links)
        assert (view.state, view.wrong_parameters) == ("inoperable", True)
        minor = next(one for one in view.meters if one.meter == MINOR)
        assert (minor.wager, minor.wagers) == (500, (100, 500))
        await refused(links, to(MINOR, "wager", 200))
        with pytest.raises(ActError) as error:
            await links.open(LINK, "sue")
        assert error.value.code == "link_inoperable"
        for meter in changed:
            await carry(links, to(meter, "wager", 100))
        await eventually_async(
            lambda: link.service.problem is None and link.beat().state == "closed",
            what="a closed link",
        )
        assert not (await view_of(links)).wrong_parameters
        assert (await links.open(LINK, "sue")).state == "operable"
    assert (await again.audit()).balanced


async def test_a_floor_file_that_does_not_fit_a_changed_parameter_cannot_be_approved(
    keeping_redis: Redis, tmp_path: Path
) -> None:
    """A proposal made it paytable B. The new table's game has only A."""
    games = one_has_more_paytables(tmp_path)
    pit = await opened(keeping_redis, floor_of(games, {"m": "A"}, "one"))
    await carry(pit.link_acts, to("m", "paytable", "B"))
    again = Pit(keeping_redis, floor_of(games, {"m": "A"}, "one", "two"))
    found = await not_approved(Configuration(again.floor, again.store))
    assert found.barred == (
        "with the parameters that were changed by proposal, in two, m: H.4 has the paytables A, not"
        " 'B': set the floor file and the game files back"
    )
