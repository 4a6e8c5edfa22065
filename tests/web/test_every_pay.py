"""Every cell of every game's paytables and Envy schedules is on the page for players (duty D1).

The cells are read from the game files as TOML. What the page shows comes from its HTML alone.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final, cast

import httpx
import pytest

import bonus.law
import controllers.demo
from bonus.display import hand_words
from tests.floor_text import floor_text, link_text, meter_text, table_text
from tests.games.naive import HOUSE, fed_by
from tests.web.pays_tables import Tables
from tests.web.stand import Stand

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


def cells_of(wager: Law, meters: Law) -> Shown:
    """Return what the game file says of a wager: each payout, by the hand and the meter."""
    found: Shown = Counter()
    first, *_ = fed_by(wager)
    table = wager["table"][0]
    for hand, row in table["pays"].items():
        letter = meters[first]["paytable"]
        cell = row if isinstance(row, str) else row[table["choices"].index(letter)]
        for part in cell.split(" + ") if cell not in {"", "N/A"} else ():
            if match := re.fullmatch(r"([\d.]+)% of (\w+)", part):
                meter = first if match[2] == "meter" else match[2]
                found[f"{meter} {hand_words(hand)}", f"{match[1]}% of the meter"] += 1
            else:
                found[hand_words(hand), _dollars(part, meters[first]["wager"])] += 1
    for name, draw in _DRAWS.items():
        if "draws" in wager:
            found[name, _dollars(wager["draws"][draw], meters[first]["wager"])] += 1
    for schedule in wager.get("envy", {}).get("schedule", ()):
        if _dollars(schedule["wager"], 0) == f"${meters[first]['wager'] // 100}":
            for hand, cell in schedule["pays"].items():
                found[f"Envy {hand_words(hand)}", cell] += 1
    return found


def _dollars(cell: str, wager_cents: int) -> str:
    number = int(re.sub(r"\D", "", cell.removesuffix(" for 1")))
    return f"${number * wager_cents // 100 if cell.endswith('for 1') else number:,}"


def shown_of(tables: Tables, kinds: Mapping[str, str]) -> Shown:
    found: Shown = Counter()
    for meter, rows in tables.of.items():
        for row in rows:
            hand, cell, envy, *_ = [*(part.strip() for part in row.split("|")), "", ""]
            for part in cell.split(" + ") if cell else ():
                of = f"{kinds[meter]} " if part.endswith("of the meter") else ""
                found[f"{of}{hand}", part] += 1
            if envy:
                found[f"Envy {hand}", envy] += 1
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


@pytest.mark.duty("D1")
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
            expected: Shown = Counter()
            for wager in law["wager"]:
                if fed_by(wager):
                    expected += cells_of(wager, meters)
            for path in ("", f"/T-{number}"):
                page = await client.get(f"/signage/link-{number}/pays{path}")
                assert shown_of(Tables(page.text), {kind: kind for kind in meters}) == expected
