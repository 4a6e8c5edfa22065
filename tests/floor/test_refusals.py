"""Each error in a floor file is refused with its line and words that say what to write."""

import re
import tomllib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

import pytest

from meters.floor.floor_file import FloorError, parse_floor, read_floor
from meters.floor.toml_errors import SourceLines
from tests.floor.example import FLOOR, SHIPPED


@dataclass(frozen=True, slots=True)
class Mistake:
    """A good floor file with another text, the line that its refusal names, and words of it."""

    line: int
    old: str
    new: str
    words: str

    @property
    def text(self) -> str:
        assert FLOOR.count(self.old) >= 1, self.old
        return FLOOR.replace(self.old, self.new, 1)


HEAD: Final = FLOOR[: FLOOR.index("[[link]]")]
CENTS: Final = "cents, a whole number"
KEYS: Final = (
    Mistake(3, "timezone", "time_zone", "no key time_zone here: is timezone meant"),
    Mistake(4, "validate_from", "validate_form", "is validate_from meant"),
    Mistake(6, "[service]", "[servce]", "no key servce here: is service meant"),
    Mistake(10, "data =", "dta =", "is data meant"),
    Mistake(14, 'name = "One', 'nam = "One', "is name meant"),
    Mistake(18, "wager = 100", "wagr = 100", "is wager meant"),
    Mistake(38, "positions = 7", "seats = 7", "no key seats here: it is one of id, asset, game"),
    Mistake(36, "asset =", "colour =", "no key colour here"),
    Mistake(40, 'pair_plus = "C"', 'pair_pluss = "C"', "is pair_plus meant"),
    Mistake(53, "wager = 500 }", "wagers = 500 }", "is wager meant"),
    Mistake(6, "[service]", "[extra]\n[service]", "no key extra here"),
)
MISSING: Final = (
    Mistake(1, '[facility]\nname = "Test House"\ntimezone = "America/New_York"\nvalidate_from = 0',
            "", "[facility] is missing"),
    Mistake(1, 'timezone = "America/New_York"\n', "", "timezone is missing"),
    Mistake(12, 'id = "one"\n', "", "id is missing"),
    Mistake(16, 'kind = "progressive"\nwager = 100\n', "wager = 100\n", "kind is missing"),
    Mistake(34, 'game = "three_card_poker"\n', "", "game is missing"),
    Mistake(16, 'paytable = "A"\n', "", "a paytable must be chosen, A or B of 649a.12(e)(1)"),
)  # fmt: skip
MONEY: Final = (
    *(
        Mistake(18, "wager = 100", f"wager = {text}", CENTS)
        for text in ("1.00", '"$1"', '"100"', '"1.00"', "true", "1e2", "nan", "[100]", "{}")
    ),
    *(
        Mistake(18, "wager = 100", f"wager = {text}", "money is in cents")
        for text in ("$1", "$1.00", "10,000", "one", "100 $")
    ),
    Mistake(18, "wager = 100", "wager = 0", "wager is at least 1 cent"),
    Mistake(18, "wager = 100", "wager = -100", "wager is at least 1 cent"),
    Mistake(24, "wager = 250", "wager = 1000001", "wager is at most 1000000 cents ($10,000)"),
    Mistake(18, "wager = 100", "wager = 1", "wager is in cents: $1 is 100"),
    Mistake(19, "wager = 100", "wager = 100\nlimit = 100.00", "limit is in cents, a whole"),
    Mistake(
        19, "wager = 100", 'wager = 100\ncontribution_max = "1"', "contribution_max is in cents"
    ),
    Mistake(
        18, "wager = 100", "wager = 200", "649a.12(e)(5) has no Envy Bonuses for other amounts"
    ),
    Mistake(53, "wager = 500 }", "wager = 1000 }", "649a.12(h)(5) has no Envy Bonuses"),
    Mistake(54, "wager = 100 }", "wager = 200 }", "649a.12(j)(5) has no Envy Bonuses"),
    Mistake(4, "validate_from = 0", "validate_from = 5.00", CENTS),
    Mistake(4, "validate_from = 0", 'validate_from = "$5"', CENTS),
    Mistake(4, "validate_from = 0", "validate_from = -1", "validate_from is at least 0 cents"),
    Mistake(47, "payout_limit = 5000000", "payout_limit = 4999999", "at least 5000000 cents"),
    Mistake(47, "payout_limit = 5000000", "payout_limit = true", "or a whole number"),
)
METERS: Final = (
    Mistake(17, 'kind = "progressive"', 'kind = "progresive"', "is progressive meant"),
    Mistake(17, 'kind = "progressive"', 'kind = "slots"', "it is one of progressive, five_card"),
    Mistake(19, 'paytable = "A"', 'paytable = "C"', "the paytables A or B, not 'C'"),
    Mistake(19, 'paytable = "A"', 'paytable = "a"', "the paytables A or B, not 'a'"),
    Mistake(25, "wager = 250", 'wager = 250\npaytable = "A"', "only one paytable"),
    Mistake(30, 'id = "high"', 'id = "bonus"', "meter bonus appears twice on link one"),
    Mistake(28, 'id = "high"\n', "", "meter progressive appears twice on link one"),
    Mistake(20, 'paytable = "A"', 'paytable = "A"\nmagic_card_every = 24', "649a.12(i)(3)"),
    Mistake(20, 'paytable = "A"', 'paytable = "A"\nlucky_every = 24', "649a.12(i)(3)"),
    Mistake(
        20,
        'paytable = "A"',
        'paytable = "A"\nlimit = 99999',
        "below the meter's seed or reseed of $1,000",
    ),
    Mistake(20, 'paytable = "A"', 'paytable = "A"\nlimit = 100000', "could never be won"),
    Mistake(20, 'paytable = "A"', 'paytable = "A"\nlimit = 0', "limit is at least 1"),
    Mistake(20, 'paytable = "A"', 'paytable = "A"\ncontribution_max = 0.5', "a whole number"),
    Mistake(25, "every = 24", "every = -1", "magic_card_every is at least 0"),
    Mistake(26, "every = 12", 'every = "12"', "lucky_every is a whole number, without quotes"),
)
TABLES: Final = (
    Mistake(58, '"T-3"', '"T-1"', "table T-1 is already on link one"),
    Mistake(43, '"T-2"', '"T-1"', "table T-1 is already on link one"),
    Mistake(59, '"1003"', '"1001"', "table T-1 already has the asset 1001"),
    *(
        Mistake(
            36, '"1001"', f'"{asset}"', "asset must have only letters, digits and signs of ASCII"
        )
        for asset in ("1001 ", " 1001", "10  01", " ", "1001\u00a0", "\uff11001", "\u0422-1")
    ),
    Mistake(36, '"1001"', "1001", 'asset is a text and needs quotes: asset = "…"'),
    Mistake(35, '"T-1"', '"T 1"', "letters, digits and hyphens"),
    Mistake(35, '"T-1"', '"T_1"', "letters, digits and hyphens only"),
    Mistake(23, 'id = "bonus"', 'id = "the bonus"', "letters, digits, hyphens and underscores"),
    Mistake(35, '"T-1"', '"T-1\\n"', "letters, digits and hyphens"),
    Mistake(35, '"T-1"', '""', "letters, digits and hyphens"),
    Mistake(35, '"T-1"', f'"{"T" * 33}"', "1 to 32"),
    Mistake(35, '"T-1"', "1", "needs quotes"),
    Mistake(50, '"two"', '"one"', "link one is in the file twice"),
    Mistake(50, '"two"', '"pit 2"', "letters, digits and hyphens"),
    Mistake(37, '"three_card_poker"', '"Three Card Poker"', "is three_card_poker meant"),
    Mistake(38, "positions = 7", "positions = 8", "three_card_poker has no more than 7 positions"),
    Mistake(46, "positions = 6", "positions = 7", "four_card_prime has no more than 6 positions"),
    Mistake(38, "positions = 7", "positions = 0", "positions is at least 1"),
    Mistake(38, "positions = 7", 'positions = "7"', "positions is a whole number"),
    Mistake(39, '["progressive", "bonus"]', '"progressive"', "meters is a list"),
    Mistake(39, '"bonus"]', '"bonuss"]', "link one has no meter bonuss: is bonus meant"),
    Mistake(39, '"bonus"]', '"five_card_progressive"]', "link one has no meter five_card_prog"),
    Mistake(
        39,
        '"bonus"]',
        '"high"]',
        "high and progressive are both progressive: a table has at most one",
    ),
    Mistake(39, '"bonus"]', '"progressive"]', "progressive is listed twice"),
    Mistake(64, '"five_of_six_progressive",\n]', '"high",\n]', "link two has no meter high"),
    Mistake(47, "positions = 6", 'positions = 6\nmeters = ["progressive"]', "no wager that feeds"),
)
CHOICES: Final = (
    Mistake(40, '"c-A"', '"b-D"', "ante_bonus is offered as b-A, b-B, b-C, c-A, c-B, c-C, not b-D"),
    Mistake(40, '"C"', '"F"', "pair_plus is offered as A, B, C, D, E, not F"),
    Mistake(40, "version = 2", "version = 4", "version is offered as 1, 2, 3, not 4"),
    Mistake(40, '"C", version = 2', '"C"', "choose version 1, 2 or 3"),
    Mistake(40, '"c-A"', '"b-A"', "c-A, c-B or c-C, or leave version out"),
    Mistake(40, '"c-A"', "true", "a choice is a text in quotes"),
    Mistake(40, '"c-A"', '["c-A"]', "a choice is a text in quotes"),
    Mistake(40, "version = 2", 'version = 2, progressive = "B"', "but its meter progressive has A"),
    Mistake(47, 'bad_beat = "A"', 'bad_beat = "E"', "bad_beat is offered as A, B, C, D, not E"),
    Mistake(47, 'bad_beat = "A"', 'pair_plus = "A"', "four_card_prime has no choice pair_plus"),
    Mistake(
        40, 'pair_plus = "C"', "payout_limit = 5000000", "three_card_poker has no choice payout"
    ),
    Mistake(66, "ante_bonus = 5,", "ante_bonus = 4,", "at least 5 to 1 for ante_bonus"),
    Mistake(66, "pair_plus = 40", "pair_plus = 39", "40 to 1 for pair_plus"),
    Mistake(66, "pair_plus = 40", "prime = 40", "649a.12(g)"),
)
PARTS: Final = (
    *(
        Mistake(3, '"America/New_York"', f'"{zone}"', "is not a time zone")
        for zone in ("EST5", "New York", "", "../../etc/passwd", "America", "Mars/Olympus")
    ),
    *(
        Mistake(7, '"mqtt://pit:s3cret@10.0.0.7:1883"', f'"{url}"', "a broker is")
        for url in (
            "localhost:1883", "http://h", "mqtt://", "mqtt://:1883", "mqtt://h:99999",
            "mqtt://h:port", "mqtt://h/path", "embeded", "", "mqtt://pit:s3cret@[::1",
            "mqtt://h:0", "mqtt://a..b", f"mqtt://{'a' * 64}", "mqtt://h\\u0000", "mqtt://a b",
        )
    ),
    *(
        Mistake(8, '"redis://10.0.0.8:6379/0"', f'"{url}"', "a redis is")
        for url in (
            "localhost:6379", "redis://", "redis://h:99999", "redis://h:0", "redis://h:port/0",
            "redis://h:6379/meters", "http://h", "unix://", "", "embeded",
            "redis://h?socket_timeout=x", "redis://h?nothing=1", "redis://h?db=x",
            "unix:///x?ssl_keyfile=k", "rediss://h?ssl_cert_reqs=perhaps", "redis://a..b",
            f"redis://{'a' * 64}", "redis://%2e%2e", "unix:///\\u0000",
        )
    ),
    *(
        Mistake(9, '"127.0.0.1:8080"', f'"{address}"', "http is an address and a port")
        for address in (
            "8080", ":8080", "127.0.0.1", "127.0.0.1:80800", "127.0.0.1:0", "h:http",
            "http://127.0.0.1:8080", "h :8080", "a..b:8080", f"{'a' * 64}:8080", "127.0.0.1:８０",  # noqa: RUF001
        )
    ),
    Mistake(9, '"127.0.0.1:8080"', "8080", "http is a text and needs quotes"),
    Mistake(10, '"pitlink-data"', '""', "data must name a directory"),
    Mistake(10, '"pitlink-data"', '"a\\u0000b"', "data must name a directory"),
    Mistake(2, '"Test House"', '""', "name is empty"),
    Mistake(2, '"Test House"', '"Test \\u001b[2J"', "name holds U+001B, which cannot be printed"),
    Mistake(2, '"Test House"', '"Test\u202eesuoH"', "name holds U+202E, which cannot be printed"),
    Mistake(2, '"Test House"', f'"{"x" * 81}"', "name has 80 characters at most"),
    Mistake(2, '"Test House"', "2026-11-20", "name is a text"),
)  # fmt: skip
DAYS: Final = (
    *(
        Mistake(
            5, "\n[service]", f'day_starts = "{starts}"\n\n[service]', "is a time of day, such as"
        )
        for starts in ("6:00", "24:00", "06:00:00", "six", "")
    ),
    Mistake(68, "\n[signage]", "[archive]\nlive_days = 0\n[signage]", "live_days is at least 1"),
    Mistake(68, "\n[signage]", "[archive]\nkeep_years = 0\n[signage]", "keep_years is at least"),
    Mistake(68, "\n[signage]", "[archive]\nlive = 3\n[signage]", "no key live here: it is one of"),
)
NAMES: Final = tuple(
    Mistake(10, "data =", f"{line}\ndata =", words)
    for line, words in (
        ('hosts = ["pit.example", "https://pit"]', "'https://pit' is not a host name"),
        ('hosts = ["pit.example:8080"]', "without scheme or port"),
        ('hosts = ["*"]', "is not a host name"),
        ('hosts = [""]', "is not a host name"),
        ('hosts = "pit.example"', "hosts is a list"),
        ('certificate = "pit.pem"', "certificate and private_key go together"),
        ('private_key = "pit.key"', "certificate and private_key go together"),
    )
)
SIGNAGE: Final = (
    Mistake(70, '"gold"', '"golf"', "no theme golf: write gold, neon, classic, or the path of a"),
    Mistake(71, '"logo.svg"', "true", "logo is a text and needs quotes"),
    Mistake(72, '"fit"', '"link"', "there is no rotate link: is links meant"),
    Mistake(73, "= 12\ncelebrate", "= 2\ncelebrate", "rotate_seconds is at least 3"),
    Mistake(74, "= 2500", "= 25.00", "celebrate_from is in cents, a whole number"),
    *(
        Mistake(75, "= 2500\n", f'= 2500\npays_address = "{address}"\n', reason)
        for address, reason in (
            ("casino.example/pays", 'that a phone can open, such as "https://casino.example/pays"'),
            ("https://casino.example/a b", "that a phone can open"),
            (f"https://casino.example/{'x' * 31}", "has 54 characters: if it has more than 53"),
        )
    ),
    Mistake(69, 'title = "Jackpots"', 'titel = "Jackpots"', "is title meant"),
    Mistake(77, 'jackpot = "Jackpot"', 'jackpott = "Jackpot"', "is jackpot meant"),
    Mistake(78, '"Pending verification"', '""', "pending is empty"),
    Mistake(81, '"Temporarily unavailable"', f'"{"x" * 61}"', "has 60 characters at most"),
    Mistake(82, '"Play responsibly"', f'"{"x" * 61} {"y" * 97}"', "does not fit into two lines"),
)
TOML: Final = (
    Mistake(35, '"T-1"', "T-1", "a text needs quotes"),
    Mistake(35, '"T-1"', '"T-1', "a quote is missing"),
    Mistake(35, '"T-1"', "“T-1”", "use straight quotes"),
    Mistake(35, 'id = "T-1"', 'id: "T-1"', "a line is a key and its value"),
    Mistake(35, 'id = "T-1"', '"T-1"', "a line is a key and its value"),
    Mistake(38, "positions = 7", "positions = 7,", "remove the comma"),
    Mistake(38, "positions = 7", "positions = 7 ; seats", "a comment begins with #"),
    Mistake(
        39,
        "positions = 7",
        "positions = 7\npositions = 7",
        "positions appears twice in this section",
    ),
    Mistake(34, "[[link.table]]", "[[link.table]", "a section is named in brackets"),
    Mistake(42, "[[link.table]]\nid", "[link.table]\nid", "double brackets"),
    Mistake(6, "[service]", "service", "a line is a key and its value"),
    Mistake(6, "[service]", "[facility]", "[facility] appears twice, at lines 1 and 6"),
    Mistake(12, "[[link]]", "[service]\n[[link]]", "[service] appears twice, at lines 6 and 12"),
)


def check_mistake(mistake: Mistake) -> None:
    with pytest.raises(FloorError) as caught:
        parse_floor(mistake.text, "floor.toml")
    message = str(caught.value)
    found = re.match(r"floor\.toml:(\d+): ", message)
    assert found is not None, message
    assert (int(found[1]), mistake.words in message) == (mistake.line, True), message
    assert "Expected `" not in message
    assert "s3cret" not in message
    assert message.count("\n") == 0


@pytest.mark.parametrize(
    "mistake",
    [*KEYS, *MISSING, *PARTS, *DAYS, *NAMES, *SIGNAGE, *TOML],
    ids=lambda mistake: mistake.new.strip() or mistake.words,
)
def test_mistake(mistake: Mistake) -> None:
    check_mistake(mistake)


@pytest.mark.reading("T22")
@pytest.mark.reading("G6")
@pytest.mark.parametrize("mistake", MONEY, ids=lambda mistake: mistake.new)
def test_money(mistake: Mistake) -> None:
    check_mistake(mistake)


@pytest.mark.section("649a.12(i)(3)")
@pytest.mark.parametrize("mistake", METERS, ids=lambda mistake: mistake.new)
def test_meter(mistake: Mistake) -> None:
    check_mistake(mistake)


@pytest.mark.duty("D5", proof=True)
@pytest.mark.section("649a.2(a)")
@pytest.mark.parametrize("mistake", TABLES, ids=lambda mistake: mistake.new)
def test_table(mistake: Mistake) -> None:
    check_mistake(mistake)


@pytest.mark.section("649a.12(c)")
@pytest.mark.section("649a.12(g)")
@pytest.mark.section("649a.7(e)")
@pytest.mark.parametrize("mistake", CHOICES, ids=lambda mistake: mistake.new)
def test_choice(mistake: Mistake) -> None:
    check_mistake(mistake)


SPOILT: Final = FLOOR.replace("positions = 7", "positions = 8")


WHOLE: Final = {
    "empty": ("", ":1: [facility] is missing"),
    "no link": (HEAD, ":1: [[link]] is missing"),
    "an empty list of links": (f"link = []\n{HEAD}", ":1: there is no [[link]]"),
    "single brackets": (
        f'{HEAD}[link]\nid = "one"\nname = "One"\n',
        ":12: link has double brackets: [[link]]",
    ),
    "deep": ("a = " + "[" * 20_000, ":1: this cannot be read as TOML"),
    "long": ("a = " + "1" * 5_000, ":1: this cannot be read as TOML"),
    "the first of several errors is reported": (SPOILT.replace("T-3", "T-1"), ":38: "),
    "Windows line ends leave the lines as they are": (SPOILT.replace("\n", "\r\n"), ":38: "),
    "another encoding": (
        FLOOR.replace("One Dollar", "Dollar \udce0"),
        ":14: the file is not UTF-8",
    ),
}


@pytest.mark.parametrize(("text", "words"), WHOLE.values(), ids=WHOLE)
def test_a_file_that_is_no_floor_is_refused(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "floor.toml"
    path.write_bytes(text.encode(errors="surrogateescape"))
    with pytest.raises(FloorError, match=re.escape(f"floor.toml{words}")):
        read_floor(path)


@pytest.mark.parametrize(("name", "reason"), [("none.toml", "no such file"), (".", "directory")])
def test_no_file(tmp_path: Path, name: str, reason: str) -> None:
    with pytest.raises(FloorError, match=reason):
        read_floor(tmp_path / name)


def test_windows_line_ends_and_a_byte_order_mark_are_no_mistake(tmp_path: Path) -> None:
    path = tmp_path / "floor.toml"
    path.write_bytes(b"\xef\xbb\xbf" + FLOOR.replace("\n", "\r\n").encode())
    text = FLOOR.replace('"logo.svg"', f'"{tmp_path / "logo.svg"}"')
    text = text.replace('"pitlink-data"', f'"{tmp_path / "pitlink-data"}"')
    text += f'\n[archive]\ndirectory = "{tmp_path / "pitlink-archive"}"\n'
    assert read_floor(path) == parse_floor(text)


def test_the_id_of_a_meter_can_have_underscores() -> None:
    """The kinds of meters, which are the usual ids, have underscores."""
    floor = parse_floor(FLOOR.replace('"bonus"', '"five_card_bonus"'))
    assert "five_card_bonus" in {meter.meter_id for meter in floor.link[0].meter}


TEXTS: Final = (FLOOR, SHIPPED.read_text())


@pytest.mark.parametrize(
    "number",
    [n for n, line in enumerate(FLOOR.split("\n"), 1) if re.fullmatch(r"\w+ = .+[^\[]", line)],
)
def test_a_value_of_a_wrong_type_is_reported_with_its_line(number: int) -> None:
    lines = FLOOR.split("\n")
    key = lines[number - 1].split(" = ")[0]
    lines[number - 1] = f"{key} = 07:32:00"
    with pytest.raises(FloorError, match=rf"floor\.toml:{number}: {key} "):
        parse_floor("\n".join(lines), "floor.toml")


def paths(value: Any, path: tuple[str | int, ...] = ()) -> set[tuple[str | int, ...]]:  # noqa: ANN401
    """Return the path of every value in a TOML text, as the standard library parses it."""
    found = {path}
    items: Any = ()
    if isinstance(value, dict):
        items = value.items()
    elif isinstance(value, list):
        items = enumerate(value)
    for step, inner in items:
        found |= paths(inner, (*path, step))
    return found


@pytest.mark.parametrize("text", TEXTS, ids=["all in it", "shipped"])
def test_every_value_has_a_line_of_its_own(text: str) -> None:
    """The lines are not those of enclosing sections, except for a whole list of tables."""
    places = SourceLines(text)
    for path in paths(tomllib.loads(text)):
        if path and not (isinstance(path[-1], str) and (*path, 0) in places.known):
            assert path in places.known, path


@pytest.mark.parametrize(
    ("text", "path", "line"),
    [
        pytest.param('a = """\n[b]\nc = 1\n"""\nd = 2', ("d",), 5, id="a text over lines"),
        pytest.param("a = '''\nb = 1'''\nc = 2", ("c",), 3, id="a plain text over lines"),
        pytest.param('a = """x\\"""" # b\nc = 2', ("c",), 2, id="an escaped quote at the end"),
        pytest.param('a = """x""""\nc = 2', ("c",), 2, id="a quote before the end"),
        pytest.param('a = "# no comment" # [b]\nc = 2', ("c",), 2, id="a hash in a text"),
        pytest.param("a = [ # ]\n  1,\n\n  2 ]", ("a", 1), 4, id="a list over lines"),
        pytest.param("a = [[1],\n[2,\n3]]", ("a", 1, 1), 3, id="a list in a list"),
        pytest.param("[a . 'b.c']\nd = 1", ("a", "b.c", "d"), 2, id="a quoted name in a header"),
        pytest.param("a.b.c = 1\na.b.d = 2", ("a", "b", "d"), 2, id="dotted keys"),
        pytest.param("a = { b = 1, c = { d = 2 } }", ("a", "c", "d"), 1, id="a table in a table"),
        pytest.param("[[a]]\n[[a.b]]\n[[a]]\n[[a.b]]\nc = 1", ("a", 1, "b", 0, "c"), 5, id="lists"),
        pytest.param("[a]\nb = 1979-05-27 07:32:00\nc = 1", ("a", "c"), 3, id="a time"),
        pytest.param("# \u2028 x\na = 1", ("a",), 2, id="an exotic line end is none"),
        pytest.param("\r\na = 1\r\n\r\nb = 2", ("b",), 4, id="Windows line ends"),
    ],
)
def test_places(text: str, path: tuple[str | int, ...], line: int) -> None:
    tomllib.loads(text)
    assert SourceLines(text).line_of(path) == line
