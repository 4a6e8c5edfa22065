"""Targets that people write or disks hold: rounds to settle, floor files, logos, addresses."""

import io
import tempfile
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from random import Random
from typing import Final
from urllib.parse import urlsplit
from xml.parsers import expat

from redis.asyncio import BlockingConnectionPool

from bonus.cards import card_name, parse_card
from bonus.errors import UserError
from bonus.settling.settle_round import settle_lines
from controllers.table.state import Layout
from meters.floor.branding import Branding, read_logo
from meters.floor.floor_file import FloorError, read_floor
from meters.floor.server_addresses import (
    is_broker,
    is_listening_address,
    is_redis,
    is_replicated,
    parse_broker_url,
    parse_replicated,
    redis_url_problem,
    with_one_host,
)
from meters.intake.table_catalog import table_topics
from meters.users.pins import check_pin
from meters.users.user_names import clean_name, fold_name
from meters.users.user_store import UsersError
from tests.floor.example import FLOOR, SHIPPED
from tests.fuzz.junk import mutated, toml_with
from tests.fuzz.target import CODE, Check, Target, check_message, plain, pure
from tests.mqtt.events import encode

ROUNDS: Final = tuple(
    encode(round_)
    for round_ in (
        {"game": "three_card_poker",
         "paytables": {"ante_bonus": "b-A", "pair_plus": "A", "progressive": "A",
                       "six_card_bonus": "A"},
         "positions": [
             {"position": 3, "patron": "p3", "cards": ["As", "Ks", "Qs"], "folded": False,
              "wagers": {"ante": 1000, "play": 1000, "progressive": 100,
                         "five_card_progressive": 100}},
             {"position": 4, "cards": ["9h", "9c", "4d"],
              "wagers": {"ante": 500, "play": 500, "five_card_hand_bonus": 100}}],
         "dealer": ["2c", "3d", "4h"], "community": ["Js", "Ts"],
         "draw": {"magic_card": "Ts", "lucky_position": 3},
         "meters": {"progressive": {"wager": 100, "amount": 151234},
                    "five_card_progressive": {"wager": 100, "amount": 251234},
                    "five_card_hand_bonus": {"wager": 100, "amount": 1200000,
                                             "reserve": 30000}}},
        {"game": "three_card_prime", "paytables": {"bad_beat": "A", "pair_bonus": "A"},
         "positions": [{"position": 2, "cards": ["9s", "9h", "Kd"], "fourth_card": "4s",
                        "wagers": {"ante": 500, "play": 500, "prime": 500, "pair_bonus": 100}}],
         "dealer": ["Qc", "7d", "2h"]},
        {"game": "four_card_prime", "paytables": {"bad_beat": "A", "all_six": "A"},
         "positions": [{"position": 2, "cards": ["9s", "9h", "9d", "9c", "2h"],
                        "wagers": {"ante": 1000, "raise": 3000, "all_six": 500}}],
         "dealer": ["Kc", "Kd", "Kh", "Ks", "3d", "4d"], "all_six_card": "2s"},
        {"game": "three_card_poker", "irregularity": "void",
         "positions": [{"position": 1, "wagers": {"ante": 1000, "progressive": 100}}],
         "meters": {"progressive": {"wager": 100, "amount": 151234}}},
    )
)  # fmt: skip


def check_settle(data: bytes) -> None:
    sink = io.BytesIO()
    all_settled = settle_lines(io.BytesIO(data), sink)
    answers = [plain(line) for line in sink.getvalue().splitlines()]
    assert len(answers) == len(data.removesuffix(b"\n").split(b"\n")) - (not data)
    assert all_settled == all("error" not in answer for answer in answers)
    for answer in answers:
        if error := answer.get("error"):
            assert CODE.fullmatch(error["code"]), error
            assert error["message"]
            continue
        for line in answer["lines"]:
            assert min(line["paid"], line["returned"], line["wagered"]) >= 0, line
            assert max(line["paid"], line["returned"]) < 2**63, line
        assert all(meter["amount"] >= 0 for meter in answer["meters"].values())


def make_rounds(random: Random, seeds: Sequence[bytes]) -> bytes:
    count = 1 if random.random() < 0.9 else random.randrange(2, 5)
    return b"\n".join(mutated(random, seeds) for _ in range(count))


@asynccontextmanager
async def floor_files() -> AsyncIterator[Check]:
    with tempfile.TemporaryDirectory(prefix="plt-") as home:
        path = Path(home) / "floor.toml"

        async def take(data: bytes) -> None:
            path.write_bytes(data)
            try:
                floor = read_floor(path)
            except FloorError as error:
                check_message(str(error), str(path), data)
                return
            for link in floor.link:
                table_topics(floor, link)
                for table in link.table:
                    Layout.of(link, table)
            assert "\0" not in floor.service.data
            if floor.service.broker != "embedded":
                parse_broker_url(floor.service.broker)

        yield take


make_floor: Final = toml_with(
    *(b'"mqtt://' + b"a" * 70 + b'"', b'"mqtt://a..b:1"', b'"redis://h/0?foo=1"', b'"mqtt://h:0"'),
    *(b'"127.0.0.1:99999"', b'"a..b:80"', b'"../.."', b'"/dev/null"', b'"three_card_poker"'),
)


def check_card(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    try:
        card = parse_card(text)
    except ValueError:
        return
    assert card_name(card) == text


LOGOS: Final = (
    b'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 9 9"><path d="M0 0h9v9z"/></svg>',
    b'<?xml version="1.0"?><!-- x --><svg xmlns="http://www.w3.org/2000/svg"><g onload="a"/></svg>',
    b'<svg xmlns="http://www.w3.org/2000/svg"><script>1</script><a href="javascript:1"/></svg>',
    b'<s:svg xmlns:s="http://www.w3.org/2000/svg"><s:script/></s:svg>',
    b"\x89PNG\r\n\x1a\n" + bytes(40),
    b"RIFF\x10\0\0\0WEBPVP8 " + bytes(8),
)
_SVG: Final = (
    *(b"<script>", b"<x-y:script xmlns:x-y='http://www.w3.org/2000/svg'/>", b" onclick='x'"),
    *(b'\nonload="x"', b"/onload=x ", b"&#106;avascript:", b"-->", b"<!--"),
    b"<!DOCTYPE svg [<!ENTITY a 'b'>]>",
    *(b"<foreignObject/>", b"<handler/>", b"java\nscript:", b"]]>", b"<![CDATA["),
)


def make_logo(random: Random, seeds: Sequence[bytes]) -> bytes:
    data = random.choice(seeds)
    for _ in range(random.randrange(1, 4)):
        at = random.randrange(len(data) + 1)
        data = data[:at] + random.choice(_SVG) + data[at:]
    return data if random.random() < 0.7 else mutated(random, [data])


@asynccontextmanager
async def logos() -> AsyncIterator[Check]:
    with tempfile.TemporaryDirectory(prefix="plt-") as home:
        path = Path(home) / "logo"

        async def take(data: bytes) -> None:
            path.write_bytes(data)
            try:
                logo = read_logo(Branding(logo=str(path)))
            except UserError:
                return
            assert logo is not None
            if logo.media_type == "image/svg+xml":
                check_drawing(data)

        yield take


def check_drawing(data: bytes) -> None:
    """Check that an accepted drawing has no active content, as far as it is XML."""
    reader = expat.ParserCreate()

    def look_at(name: str, attributes: dict[str, str]) -> None:
        local = name.rpartition(":")[2].lower()
        assert local not in {"script", "foreignobject", "iframe", "handler"}, name
        for key, value in attributes.items():
            assert not key.lower().startswith("on"), key
            plainly = "".join(value.split()).lower()
            assert "javascript:" not in plainly, value

    reader.StartElementHandler = look_at
    try:
        reader.Parse(data, True)  # noqa: FBT003  (expat's own signature)
    except expat.ExpatError:
        return


ADDRESSES: Final = (
    b"mqtt://user:p%40ss@10.0.0.7:1883",
    b"mqtts://[::1]:8883",
    b"redis://10.0.0.8:6379/0",
    b"redis://h/0?socket_timeout=5",
    b"rediss://:secret@h",
    b"unix:///run/redis.sock?db=2",
    b"rediss+sentinel://pit:secret@10.0.0.8:26379,[::1]/pitlink/1?replicas=2&ssl_ca_certs=/ca",
    b"redis+cluster://a:7000,b",
    b"127.0.0.1:8080",
)


def check_address(data: bytes) -> None:
    text = data.decode("utf-8", "replace")
    if is_broker(text):
        address = parse_broker_url(text)
        assert 1 <= address.port <= 65_535
        address.host.encode("idna")
        assert "\0" not in address.host
        assert len((address.password or "").encode()) <= 65_535
    if is_redis(text):
        pool = BlockingConnectionPool.from_url(text, max_connections=2, timeout=1)
        pool.connection_class(**pool.connection_kwargs)
        str(pool.connection_kwargs.get("host", "")).encode("idna")
    if is_replicated(text) and redis_url_problem(text) is None:
        for place in parse_replicated(text).places:
            assert 1 <= place.port <= 65_535
            place.host.encode("idna")
        urlsplit(with_one_host(text))
    if is_listening_address(text):
        host, _, port = text.rpartition(":")
        host.encode("idna")
        assert 1 <= int(port) <= 65_535


def check_name(data: bytes) -> None:
    text = data.decode("utf-8", "surrogateescape")
    try:
        name = clean_name(text)
    except UsersError:
        pass
    else:
        assert clean_name(name) == name
        assert fold_name(name) == fold_name(text)
        assert name.isprintable()
        name.encode("latin-1")
    try:
        check_pin(text)
    except UsersError:
        pass
    else:
        assert text.isascii()
        assert 6 <= len(text) <= 12


TARGETS: Final = (
    Target("settle", ROUNDS, pure(check_settle), make_rounds, share=10),
    Target("floor", (FLOOR.encode(), SHIPPED.read_bytes()), floor_files, make_floor, share=2),
    Target("cards", (b"As", b"Td", b"2c"), pure(check_card), share=3),
    Target("logo", LOGOS, logos, make_logo, share=2),
    Target("addresses", ADDRESSES, pure(check_address), share=3),
    Target(
        "names", (b"Ada Lane", "Zoë O'Hara-Núñez".encode(), b"482913"), pure(check_name), share=3
    ),
)
