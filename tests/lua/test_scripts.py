"""The scripts as texts: their headers and statuses, the loader, and a Redis that forgot them."""

import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from redis.asyncio import Redis

import meters.store.script_loader
from meters.ledger.redis_layout import SCHEMA
from meters.ledger.script_steps import Status
from meters.ledger.table_evidence import REPEATED_CLAIMS_MAX
from meters.store.script_loader import ScriptError, load_script
from tests.lua.books import Books, result, share, take, wagers
from tests.redis_versions import OldestRedis

SCRIPTS = (
    "apply_events", "open_link", "decide_claim", "switch_link", "propose_change", "decide_change",
    "note_outage", "approve_link", "reserve_slip", "release_slip", "decide_envy",
    "decide_ask", "request_claim", "reopen_claim", "correct_slip", "add_promotion",
)  # fmt: skip
_SECTIONS = re.compile(r"^-- (KEYS|ARGV|Output)", re.MULTILINE)
_PLACE = re.compile(r"(?:^|\s{2,})(\d+)(…)?\s")
_WORD = re.compile(r"'([a-z_]+)'")


def _header(name: str, section: str) -> str:
    text = load_script(name)
    head = "\n".join(
        line for line in text.split("\n\n", 1)[0].splitlines() if line.startswith("--")
    )
    parts = _SECTIONS.split(head)
    return parts[parts.index(section) + 1].replace("\n--", "\n")


def _code(name: str) -> str:
    return re.sub(r"--.*", "", load_script(name))


def _used(name: str, array: str) -> tuple[set[int], bool]:
    """Return the indexes of KEYS or ARGV that a script reads, and whether one is a variable."""
    places = re.findall(rf"{array}\[([^\[\]]+(?:\[[^\]]*\])?)\]", _code(name))
    numbers = {int(place) for place in places if place.isdigit()}
    return numbers, any(not place.isdigit() for place in places)


@pytest.mark.parametrize("name", SCRIPTS)
@pytest.mark.parametrize("array", ["KEYS", "ARGV"])
def test_header_names_exactly_the_places_that_the_script_reads(name: str, array: str) -> None:
    places = [(int(number), bool(more)) for number, more in _PLACE.findall(_header(name, array))]
    assert [number for number, _ in places] == list(range(1, len(places) + 1))
    numbers, by_variable = _used(name, array)
    assert {number for number, more in places if not more} == numbers
    assert any(more for _, more in places) == by_variable


def test_scripts_and_audit_keep_as_many_claims_to_report_again() -> None:
    for name in ("apply_events", "decide_claim"):
        found = re.findall(r"^local REPEATED_CLAIMS_MAX = (\d+)$", load_script(name), re.MULTILINE)
        assert found == [str(REPEATED_CLAIMS_MAX)], name


def test_statuses_of_apply_events_are_those_of_the_enum_in_their_order() -> None:
    output = _header("apply_events", "Output")
    listed = re.findall(r"^\s{3}([a-z_]+) {2,}\S", output, re.MULTILINE)
    tail = output.split("and refused here:")[1]
    listed += re.findall(r"[a-z]+_[a-z_]+", tail)
    assert listed == [status.value for status in Status]


def test_apply_events_answers_with_no_other_word() -> None:
    returned = {
        word
        for line in _code("apply_events").splitlines()
        if (found := re.search(r"(?:return|accepted =) (\{ )?([\w\[\]]+ == round and )?'.*", line))
        for word in _WORD.findall(found[0])
    }
    assert returned == {status.value for status in Status}


@pytest.mark.parametrize("name", SCRIPTS[1:])
def test_statuses_of_the_other_scripts_are_those_of_their_headers(name: str) -> None:
    listed = re.findall(r"^\s{3}\{ '([a-z_]+)'", _header(name, "Output"), re.MULTILINE)
    answered = re.findall(r"return \{ '([a-z_]+)'", _code(name))
    assert listed == answered, "in order of precedence, which is that of the code"


@pytest.mark.parametrize("name", SCRIPTS)
def test_script_makes_no_key_and_asks_no_clock_or_chance(name: str) -> None:
    code = _code(name)
    if name == "add_promotion":  # it compares its caller's clock with the clock of Redis
        code = code.replace("redis.call('TIME')", "", 1)
    # cjson writes only 14 digits of a number, so it may read and write nothing but names.
    assert not re.search(r"pitlink|'TIME'|math\.random|os\.time|tostring|cjson\.(?!decode)", code)
    for call in re.findall(r"(?:redis\.call|call_with)\('[A-Z]+', ([^,)]+)", code):
        assert call in {
            "key", "ACCOUNTS", "TALLIES", "METERS", "LEDGER", "WAITING", "WINS", "ACTS", "CLAIM",
            "PROPOSALS", "PROPOSAL", "SLIPS", "APPROVED", "RESERVED", "DEALT", "ASKS",
            "TABLES", "ROUNDS", "REPLIES", "REPEATED_CLAIMS",
        }  # fmt: skip


@pytest.fixture
def scripts(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """Yield an empty directory that the loader uses as the package's directory of scripts."""
    monkeypatch.setattr(meters.store.script_loader, "files", lambda _: tmp_path)
    load_script.cache_clear()
    (tmp_path / "scripts" / "includes").mkdir(parents=True)
    yield tmp_path / "scripts"
    load_script.cache_clear()


def test_loader_puts_fragments_in_their_places(scripts: Path) -> None:
    (scripts / "act.lua").write_text("a\n--include one\nd\n")
    (scripts / "includes" / "one.lua").write_text("b\n--include two")
    (scripts / "includes" / "two.lua").write_text("c")
    assert load_script("act") == f"local SCHEMA = '{SCHEMA}'\na\nb\nc\nd\n"


@pytest.mark.parametrize(
    ("files", "said"),
    [
        ({}, "no script act"),
        ({"act": "--include one\n"}, "includes/one"),
        ({"act": "--include one\n--include one\n", "includes/one": "b"}, "included twice"),
        ({"act": "--include one\n", "includes/one": "--include one"}, "included twice"),
    ],
    ids=["no script", "no fragment", "a fragment twice", "a fragment in itself"],
)
def test_loader_refuses_what_cannot_be_put_together(
    scripts: Path, files: dict[str, str], said: str
) -> None:
    for name, text in files.items():
        (scripts / f"{name}.lua").write_text(text)
    with pytest.raises(ScriptError, match=said):
        load_script("act")


async def test_redis_that_has_forgotten_its_scripts_gets_them_again(redis: Redis) -> None:
    await _win(Books(redis))


async def test_the_oldest_redis_runs_the_scripts_of_a_win() -> None:
    """All other tests of scripts run there too, but not at each commit."""
    with OldestRedis() as server:
        async with Redis.from_url(server.url) as redis:
            assert str((await redis.info("server"))["redis_version"]).startswith("6.2")
            await _win(Books(redis))


async def _win(books: Books) -> None:
    """Open a link, win a tenth and validate it; Redis forgets the scripts before each step."""
    await books.store.open("service")
    await books.redis.script_flush()
    await books.accept(wagers(1))
    await books.redis.script_flush()
    await books.accept(result(2, share(claim="T-1-2-1"), takes=[take(10)], basis=1))
    await books.redis.script_flush()
    assert (await books.decide("T-1-2-1", "validate")).state == "validated"
    await books.redis.script_flush()
    await books.store.open("service")
