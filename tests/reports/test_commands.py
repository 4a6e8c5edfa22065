"""`pitlink report`: what it prints and writes, and how it refuses wrong input."""

import asyncio
import csv
import io
import json
import re
import subprocess
import unicodedata
from decimal import Decimal
from pathlib import Path

import pypdf
import pytest
from redis.asyncio import Redis
from typer.testing import CliRunner, Result

import meters.acts.slip_reservations
from bonus.errors import UserError
from meters.cli.report import report
from meters.ledger.redis_layout import SCHEMA, LinkKeys
from meters.reports.accounting_rows import FIGURE_SHEET, WIN_SHEET
from tests.deploy.tree import DOCS
from tests.floor_text import section_text
from tests.model.pit import FLOOR, STRICT
from tests.processes import run_pitlink
from tests.reports.conftest import MakeShop
from tests.reports.shop import BONUS, PROGRESSIVE, RAGS, ROYAL, STRAIGHT, Shop


@pytest.fixture
async def floor_file(make_shop: MakeShop, tmp_path: Path) -> Path:
    """Return the floor file of a link with two closed gaming days, in its third."""
    shop: Shop = make_shop("2026-01-19 12:00")
    await shop.open()
    await shop.round(positions=2)
    await shop.at("2026-01-20 12:00")
    (whole,) = await shop.round(ROYAL)
    await shop.pit.claims.decide(whole, "validate", "Flo")
    await shop.pit.claims.decide(whole, "pay", "Finn", slip="S-77")
    (odds,) = await shop.round(STRAIGHT, table="T-2")
    await shop.pit.claims.decide(odds, "reject", "=Flo", reason="+1 was no straight")
    await shop.at("2026-01-21 12:00")
    await shop.round(bets=BONUS)
    return shop.file(tmp_path)


async def _pitlink(floor: Path, *asked: str) -> subprocess.CompletedProcess[str]:
    return await asyncio.to_thread(run_pitlink, *asked, "--config", str(floor), cwd=floor.parent)


async def _report(floor: Path, *asked: str) -> Result:
    """Run a report within the test, which is faster."""
    return await asyncio.to_thread(
        CliRunner().invoke, app=report, args=[*asked, "--config", str(floor)]
    )


@pytest.mark.slow
@pytest.mark.parametrize("command", ["audit", "report"])
async def test_another_release_must_read_its_own_data(
    floor_file: Path, redis: Redis, command: str
) -> None:
    """To this release, entries in another layout would look altered."""
    await redis.hset(LinkKeys("pit").meters, "schema", str(SCHEMA + 1))
    done = await _pitlink(floor_file, command, *(["day"] if command == "report" else []))
    assert (done.returncode, done.stdout) == (1, "")
    assert f"schema version {SCHEMA + 1}" in done.stderr
    assert "another release wrote it" in done.stderr


def _rows(text: str) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(text)))


def _micros(row: dict[str, str]) -> int:
    return int(Decimal(row["amount_dollars"]).scaleb(6))


@pytest.mark.slow
async def test_a_day_is_printed(floor_file: Path) -> None:
    """By default it is the last closed day."""
    done = await _pitlink(floor_file, "report", "day")
    assert (done.returncode, done.stderr) == (0, "")
    for said in (
        "Tuesday, January 20, 2026",
        "2026-01-20 06:00:00 EST (UTC-05:00)",
        "-$1,000.42",
        "slip S-77",
        "the opening and the movements give the closing",
        "ledger entries      8 to 15 (8)",
    ):
        assert said.lower() in done.stdout.lower(), said


@pytest.mark.slow
async def test_csv_of_the_open_day_ends_where_the_audit_is(floor_file: Path) -> None:
    """Meter by meter, to the micro; every day's closing is the next one's opening."""
    audited = await _pitlink(floor_file, "audit", "--json")
    held = json.loads(audited.stdout)["links"]["pit"]["meters"]
    done = await _report(floor_file, "month", "2026-01", "--csv", "-")
    assert done.exit_code == 0, done.output
    rows = _rows(done.stdout)
    assert tuple(rows[0]) == FIGURE_SHEET
    days = sorted({row["gaming_day"] for row in rows})
    assert days == ["2026-01-19", "2026-01-20", "2026-01-21"]
    figures = {
        (row["gaming_day"], row["meter"], row["figure"]): row for row in rows if not row["table"]
    }
    for meter, amounts in held.items():
        for name, of in (("meter", "amount"), ("reserve", "reserve"), ("overflow", "overflow")):
            closings = [_micros(figures[day, meter, f"{name}_closing"]) for day in days]
            openings = [_micros(figures[day, meter, f"{name}_opening"]) for day in days]
            assert closings[-1] == amounts[f"{of}_micros"]
            assert openings == [0, *closings[:-1]]
    assert figures["2026-01-20", PROGRESSIVE, "rejected"]["count"] == "1"
    assert {row["day_state"] for row in rows if row["gaming_day"] == days[-1]} == {"so_far"}


async def test_jackpots_as_csv_and_json(floor_file: Path) -> None:
    """Duty D16's fields have a row each. Typed text is never a formula in a spreadsheet."""
    done = await _report(floor_file, "jackpots", "--to", "2026-01-20", "--csv", "-")
    assert done.exit_code == 0, done.output
    paid, rejected = _rows(done.stdout)
    assert tuple(paid) == WIN_SHEET
    assert (paid["amount_dollars"], paid["percent_of_meter"]) == ("1000.42", "100")
    assert paid["slip_number"] == "S-77"
    assert (paid["won_at_local"], paid["won_at_utc_offset"], paid["won_at_utc"]) == (
        "2026-01-20 12:00:00", "UTC-05:00", "2026-01-20 17:00:00",
    )  # fmt: skip
    assert (paid["validated_by"], paid["paid_by"], paid["state"]) == ("Flo", "Finn", "paid")
    assert (rejected["rejected_by"], rejected["rejection_reason"]) == (
        "'=Flo",
        "'+1 was no straight",
    )
    printed = json.loads((await _report(floor_file, "jackpots", "--json")).stdout)
    assert [row["state"] for row in printed["rows"]] == ["paid", "rejected"]
    assert printed["rows"][1]["rejected_by"] == "=Flo"
    assert (printed["holds"], printed["problems"]) == (True, [])


async def test_the_document_shows_json_with_the_fields_of_the_real_output(floor_file: Path) -> None:
    printed = json.loads((await _report(floor_file, "day", "2026-01-20", "--json")).stdout)
    text = (DOCS / "reference" / "reports.md").read_text()
    (shown,) = map(json.loads, re.findall(r"^```json\n(.*?)^```", text, re.DOTALL | re.MULTILINE))
    assert list(shown) == list(printed)
    (row,) = shown["rows"]
    (real,) = (
        each
        for each in printed["rows"]
        if all(each[name] == row[name] for name in ("meter", "table", "figure"))
    )
    assert list(row) == list(real)
    assert [type(cell) for cell in row.values()] == [type(cell) for cell in real.values()]
    assert shown["facts"].keys() <= printed["facts"].keys()
    (facts,) = shown["links"].values()
    assert facts.keys() <= next(iter(printed["links"].values())).keys()


@pytest.mark.duty("D4")
async def test_both_people_who_rejected_a_win_are_in_reports(
    make_shop: MakeShop, tmp_path: Path
) -> None:
    """A win that they reopened waits again, and has no rejection."""
    shop = make_shop("2026-01-20 12:00", floor_text=STRICT)
    await shop.open()
    claims = shop.pit.claims
    for table in ("T-1", "T-2"):
        (claim,) = await shop.round(ROYAL, table=table)
        asked = (await claims.reject(claim, "Amy", reason="misread")).request
        assert asked is not None
        await claims.confirm(claim, "Ben", asked.entry)
    asked = (await claims.request_reopening(claim, "Cora", reason="the camera shows it")).request
    assert asked is not None
    await claims.confirm(claim, "Ben", asked.entry)
    path = shop.file(tmp_path)

    rejected, reopened = _rows((await _report(path, "jackpots", "--csv", "-")).stdout)
    columns = ("state", "rejected_by", "rejection_requested_by", "rejection_reason")
    assert [rejected[name] for name in columns] == ["rejected", "Ben", "Amy", "misread"]
    assert [reopened[name] for name in columns] == ["pending", "", "", ""]
    printed = json.loads((await _report(path, "jackpots", "--json")).stdout)
    assert [row["rejection_requested_by"] for row in printed["rows"]] == ["Amy", ""]
    paper = tmp_path / "jackpots.pdf"
    assert (await _report(path, "jackpots", "--pdf", str(paper))).exit_code == 0
    words = " ".join(pypdf.PdfReader(paper).pages[0].extract_text().split())
    assert "Ben, 2026-01-20 12:00:00 EST; requested by Amy; misread" in words


_FORMULA = "x\r=cmd|' /C calc'!A0"
_ESCAPES = "\x1b[2J\x1b]0;owned\x07 \x9b31m \u202etxt"


@pytest.fixture
async def hostile_floor_file(
    make_shop: MakeShop, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Path:
    """Return the floor file of a link whose ledger has texts from before texts were checked."""
    monkeypatch.setattr(meters.acts.slip_reservations, "clean_slip", str)
    shop: Shop = make_shop("2026-01-20 12:00")
    await shop.open()
    for slip, reason in (
        ("S-1", f"{_FORMULA}\n{_ESCAPES}"),
        ("S-2", " \N{FULLWIDTH EQUALS SIGN}1"),
        ("S-4", "=\N{COMBINING LONG SOLIDUS OVERLAY}cmd"),
        ("S-5", "no; =cmd;\N{FULLWIDTH PLUS SIGN}1;"),
        ("S-6", "\N{VARIATION SELECTOR-16} \N{COMBINING ACUTE ACCENT}=cmd"),
        ("S-7", 'no;"=1+1;1'),
    ):
        (claim,) = await shop.round(ROYAL)
        await shop.pit.claims.decide(claim, "reject", f"@Flo {slip}", reason=reason)
    (claim,) = await shop.round(ROYAL)
    await shop.pit.claims.decide(claim, "validate", "\tFlo")
    await shop.pit.claims.decide(claim, "pay", "-Finn", slip="S-3")
    return shop.file(tmp_path)


async def test_no_cell_of_a_csv_begins_a_formula_and_no_text_ends_a_row(
    hostile_floor_file: Path,
) -> None:
    """Every cell is quoted and printable for every reader. Amounts below zero stay numbers."""
    for asked in (("jackpots",), ("month", "2026-01"), ("table", "T-1")):
        done = await _report(hostile_floor_file, *asked, "--csv", "-")
        lines = done.stdout.split("\n")
        assert lines.pop() == ""
        rows = list(csv.reader(lines))
        assert {len(row) for row in rows} == {len(rows[0])}
        for line, row in zip(lines, rows, strict=True):
            assert line == ",".join('"' + cell.replace('"', '""') + '"' for cell in row)
            assert all(cell.isprintable() for cell in row)
        # Excel in many countries separates cells by semicolons, even inside quotes.
        cells = [cell for row in csv.reader(lines, delimiter=";") for cell in row]
        for cell in [cell for row in rows for cell in row] + cells:
            if not re.fullmatch(r"-?\d+(\.\d+)?", cell):
                begins = unicodedata.normalize("NFKC", cell.strip()[:1])
                assert begins[:1] not in {*"=+-@", "\N{MINUS SIGN}"}, cell
        if asked == ("jackpots",):
            first, second, overlaid, parted, marked, _, paid = _rows(done.stdout)
            assert overlaid["rejection_reason"] == "'=\N{COMBINING LONG SOLIDUS OVERLAY}cmd"
            assert parted["rejection_reason"] == "no;' =cmd;'\N{FULLWIDTH PLUS SIGN}1;"
            assert marked["rejection_reason"].startswith("'\N{VARIATION SELECTOR-16} ")
            assert first["rejection_reason"].startswith(r"x\r=cmd|' /C calc'!A0\n\x1b[2J")
            assert second["rejection_reason"] == "' \N{FULLWIDTH EQUALS SIGN}1"
            assert (paid["validated_by"], paid["paid_by"]) == (r"\tFlo", "'-Finn")
        elif asked[0] == "month":
            amounts = {row["figure"]: row["amount_dollars"] for row in _rows(done.stdout)}
            assert any(amount.startswith("-") for amount in amounts.values())


async def test_nothing_stored_makes_a_terminal_do_anything(hostile_floor_file: Path) -> None:
    for asked in (("day",), ("month", "2026-01"), ("jackpots",), ("jackpots", "--json")):
        done = await _report(hostile_floor_file, *asked)
        assert ("owned" in done.stdout) == (asked[0] == "jackpots")
        for line in done.output.split("\n"):
            assert line.isprintable(), line
    assert json.loads(done.stdout)["rows"][0]["reason"] == f"{_FORMULA}\n{_ESCAPES}"


async def test_one_table_day_by_day(floor_file: Path) -> None:
    done = await _report(floor_file, "table", "T-1", "--csv", "-")
    assert done.exit_code == 0, done.output
    rows = _rows(done.stdout)
    assert {row["table"] for row in rows} == {"T-1"}
    contributed = {
        (row["gaming_day"], row["meter"]): _micros(row)
        for row in rows
        if row["figure"] == "table_contributed"
    }
    assert contributed == {
        ("2026-01-19", PROGRESSIVE): 280_000,
        ("2026-01-20", PROGRESSIVE): 140_000,
        ("2026-01-21", BONUS): 290_000,
    }


@pytest.mark.parametrize("size", ["letter", "a4"])
async def test_pdf_is_for_signing(floor_file: Path, size: str) -> None:
    """It has facility, day with its hours, range and digest at the close, and signature lines."""
    path = floor_file.with_name("day.pdf")
    done = await _report(floor_file, "day", "2026-01-20", "--pdf", str(path), "--paper", size)
    assert (done.exit_code, done.stdout) == (0, ""), done.output
    reader = pypdf.PdfReader(path)
    width = float(reader.pages[0].mediabox.width)
    assert round(width) == {"letter": 612, "a4": 595}[size]
    pages = [page.extract_text() for page in reader.pages]
    for number, text in enumerate(pages, start=1):
        assert f"Page {number} of {len(pages)}" in text
    whole = "\n".join(pages)
    for said in (
        "Keystone Casino",
        "2026-01-21 06:00:00 EST (UTC-05:00), 24 hours",
        "8 to 15 (8)",
        "Chain at the close",
        "$1,000.42",
        "104211",
        "Prepared by: name, signature, date",
        "pitlink 0",
    ):
        assert said in whole, said


async def test_wrong_input_is_reported_plainly(floor_file: Path) -> None:
    for asked, status, said in (
        (["day", "20.1.2026"], 2, "DAY '20.1.2026' is not a day: write it as 2026-11-20"),
        (["day", "2999-01-01"], 1, "2999-01-01 is in the future"),
        (["day", "2025-01-01"], 1, "is before the first gaming day on record, 2026-01-19"),
        (["month", "2026-13"], 2, "'2026-13' is not a month: write it as 2026-11"),
        (["day", "--link", "pot"], 1, "there is no link pot"),
        (["day", "--meter", "gold"], 1, "there is no meter gold: it is one of"),
        (["table", "T-9"], 1, "there is no table T-9"),
    ):
        done = await _report(floor_file, *asked)
        assert isinstance(done.exception, UserError), done.output
        assert done.exception.exit_status == status
        assert said in str(done.exception)


async def test_before_any_close_the_report_says_how_to_see_the_open_day(
    make_shop: MakeShop, tmp_path: Path
) -> None:
    shop: Shop = make_shop("2026-01-20 12:00")
    await shop.open()
    await shop.round(RAGS)
    path = shop.file(tmp_path)
    done = await _report(path, "day")
    assert isinstance(done.exception, UserError), done.output
    assert str(done.exception) == (
        "no gaming day is closed yet: 2026-01-19 is before the first gaming day on record,"
        " 2026-01-20; the open gaming day is 2026-01-20:"
        " `pitlink report day 2026-01-20` reports it so far"
    )
    assert (await _report(path, "day", "2026-01-20")).exit_code == 0


async def test_a_variance_is_reported_and_sets_the_exit_status(
    floor_file: Path, redis: Redis
) -> None:
    """The message is above the table, and next to the output for programs."""
    await redis.hincrby(LinkKeys("pit").accounts, f"meter:{PROGRESSIVE}", 7)
    said = f"pit: meter:{PROGRESSIVE} holds"
    printed, rows = await _report(floor_file, "day"), await _report(floor_file, "day", "--json")
    assert (printed.exit_code, rows.exit_code) == (1, 1)
    assert said in printed.stdout.partition("By table")[0]
    assert said in rows.stderr
    assert not json.loads(rows.stdout)["holds"]


async def test_a_file_opens_in_excel_as_utf_8(floor_file: Path) -> None:
    """A file that cannot be written is reported."""
    path = floor_file.with_name("wins.csv")
    done = await _report(floor_file, "jackpots", "--csv", str(path))
    assert (done.exit_code, done.stdout) == (0, "")
    assert path.read_bytes().startswith(b'\xef\xbb\xbf"gaming_day",')
    done = await _report(floor_file, "day", "--csv", f"{floor_file}/no.csv")
    assert isinstance(done.exception, UserError), done.output
    assert "no.csv: cannot be written" in str(done.exception)


@pytest.mark.slow
def test_an_unreachable_store_is_reported(tmp_path: Path) -> None:
    floor = tmp_path / "floor.toml"
    floor.write_text(FLOOR + section_text("[service]", redis="unix:///nowhere"))
    done = run_pitlink("report", "day", "--config", str(floor), cwd=tmp_path)
    assert done.returncode == 1
    assert done.stderr.startswith("pitlink: Redis cannot be reached")
    assert "Traceback" not in done.stderr
