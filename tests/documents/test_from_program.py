"""Each part of a page that the program states is as the program states it."""

import re
from datetime import date
from pathlib import Path
from typing import get_args

import msgspec
import pytest
from typer.core import TyperCommand

from bonus.rounds import SettlementText
from controllers.table.device_events import CorrectionWithdrawn, DeviceEvent
from meters.reports import accounting_rows
from meters.reports.day_figures import LinkDay, TableRounds
from tests.documents.columns import COLUMNS
from tests.documents.from_program import DOCS, PARTS, all_commands, pages, with_parts
from tests.documents.json_schemas import DEVICE_EVENTS, SCHEMAS, json_schema
from tests.documents.report_figures import OF_METERS, OF_TABLES, OF_TABLES_AND_METERS


@pytest.mark.parametrize("page", pages(), ids=lambda page: str(page.relative_to(DOCS)))
def test_a_page_says_what_the_program_says(page: Path) -> None:
    text = page.read_text()
    anew = with_parts(text)
    if text != anew:  # other tests read the page at the same time
        page.write_text(anew)
    assert text == anew, f"{page.name} is written anew: read the change and commit it"


@pytest.mark.parametrize("name", SCHEMAS)
def test_a_schema_is_that_of_the_program(name: str) -> None:
    path = DOCS / "reference" / "schemas" / f"{name}.json"
    text = path.read_text() if path.exists() else ""
    anew = msgspec.json.format(msgspec.json.encode(json_schema(name))).decode() + "\n"
    path.write_text(anew)
    assert text == anew, f"{path.name} is written anew: read the change and commit it"


def test_the_samples_of_a_round_and_its_settlement_fit_their_schemas() -> None:
    page = (DOCS / "reference" / "settlement.md").read_text()
    samples = re.findall(r"```json\n(.*?)```", page, re.DOTALL)
    of_round, of_settlement = samples
    assert msgspec.json.decode(of_round, type=SCHEMAS["round"]).game == "three_card_poker"
    settlement = msgspec.json.decode(of_settlement, type=SettlementText)
    assert msgspec.json.decode(msgspec.json.encode(settlement)) == msgspec.json.decode(
        of_settlement
    )


def test_every_field_of_a_message_and_of_a_stream_has_a_text() -> None:
    bare = [
        f"{document} {name}: {field}"
        for document in ("mqtt", "stream", "settlement", "ledger", "archive")
        for name, one in json_schema(document)["$defs"].items()
        for field, described in one.get("properties", {}).items()
        if not described.get("description")
    ]
    assert bare == []


def test_the_page_has_every_event_of_the_hardware() -> None:
    """A panel alone withdraws a request: the agent reads no line while a request waits."""
    assert {*DEVICE_EVENTS, CorrectionWithdrawn} == {*get_args(DeviceEvent)}


def test_the_page_has_every_figure_of_a_report() -> None:
    a_day = date(2026, 11, 20)
    day = LinkDay(
        link="pit", first_day=a_day, last_day=a_day, first_entry=1, last_entry=0, chain="", seal="",
        pots={},
    )  # fmt: skip
    assert day.counts("progressive").keys() == OF_METERS.keys()
    assert [name for name, *_ in accounting_rows._OF_TABLES] == list(OF_TABLES_AND_METERS)
    assert [f"table_{name}" for name in TableRounds.__slots__] == list(OF_TABLES)


def test_every_part_is_on_a_page() -> None:
    text = "".join(page.read_text() for page in pages())
    assert [name for name in PARTS if f"<!-- from the program: {name} -->" not in text] == []
    assert [name for name in COLUMNS if f"column from the program: {name} -->" not in text] == []


def test_the_help_of_each_command_has_an_example() -> None:
    commands = [one for one in all_commands() if isinstance(one[1], TyperCommand)]
    assert [name for name, one in commands if f"**{name}" not in (one.help or "")] == []


def test_a_part_is_replaced_and_the_rest_stays() -> None:
    page = "# A\n<!-- from the program: process-metrics -->\nold\n<!-- end -->\nrest\n"
    anew = with_parts(page)
    assert "old" not in anew
    assert "`process_cpu_seconds_total`" in anew
    assert anew.startswith("# A\n<!--")
    assert anew.endswith("<!-- end -->\nrest\n")
    assert with_parts(anew) == anew


def test_a_column_is_replaced_and_the_rest_stays() -> None:
    head = "| cite | said | tests |\n|---|---|---|\n"
    start = f"# A\n<!-- last column from the program: law-proofs -->\n\n{head}"
    rest = f"\n<!-- end -->\n\n{head}| 649a.6(e) | b | c |\n"
    anew = with_parts(f"{start}| 649a.6(e) | a mini-royal | old |\n{rest}")
    assert anew == f"{start}| 649a.6(e) | a mini-royal | `tests/law/rounds/649a.txt` (1) |\n{rest}"
