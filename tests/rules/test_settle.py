"""`pitlink settle`: rounds in as JSON lines, settlements out, errors at their place."""

import io
import json
import os
import select
import subprocess
import sys
from typing import Any

import msgspec
import pytest

from bonus.settling.round_text import LINE_BYTES_MAX
from bonus.settling.settle_round import settle_line, settle_lines

ROYAL: dict[str, Any] = {
    "game": "three_card_poker",
    "paytables": {"ante_bonus": "b-A", "pair_plus": "A", "progressive": "A"},
    "positions": [
        {
            "position": 3,
            "patron": "p3",
            "cards": ["As", "Ks", "Qs"],
            "folded": False,
            "wagers": {
                "ante": 1_000,
                "play": 1_000,
                "progressive": 100,
                "five_card_hand_bonus": 100,
            },
        },
        {"position": 5, "folded": True, "wagers": {"ante": 500, "progressive": 100}},
    ],
    "dealer": ["2c", "3d", "4h"],
    "community": ["Js", "Ts"],
    "draw": {"magic_card": "Ts", "lucky_position": 3},
    "meters": {
        "progressive": {"wager": 100, "amount": 151_234},
        "five_card_hand_bonus": {"wager": 100, "amount": 1_200_000, "reserve": 30_000},
    },
}


def settle(*lines: bytes) -> tuple[list[dict[str, Any]], bool]:
    sink = io.BytesIO()
    all_settled = settle_lines(io.BytesIO(b"".join(line + b"\n" for line in lines)), sink)
    return [json.loads(line) for line in sink.getvalue().splitlines()], all_settled


def changed(**fields: Any) -> bytes:  # noqa: ANN401
    return json.dumps({**ROYAL, **fields}).encode()


def position(
    wagers: dict[str, Any] | None = None,
    **fields: Any,  # noqa: ANN401
) -> list[dict[str, Any]]:
    """Return a position whose wagers, if any, are placed with a Pair Plus."""
    made = {} if wagers is None else {"pair_plus": 100, **wagers}
    return [{"position": 3, "cards": ["As", "Ks", "Qs"], "wagers": made, **fields}]


def test_what_may_be_left_out_is_left_out() -> None:
    bare = {
        "game": "three_card_poker",
        "paytables": {"pair_plus": "E"},
        "positions": [
            {
                "position": 1,
                "cards": ["2h", "5s", "Jc"],
                "wagers": {"pair_plus": 1, "five_of_six_progressive": 500},
            }
        ],
        "dealer": ["2c", "7d", "9h"],
        "meters": {"five_of_six_progressive": {"wager": 500, "amount": 5_000_000}},
    }
    settled, all_settled = settle(json.dumps(bare).encode())
    assert all_settled
    assert settled[0]["meters"] == {"five_of_six_progressive": {"amount": 5_000_000}}
    [_, line] = settled[0]["lines"]
    assert (line["outcome"], line["hand"], "paid_from" in line) == ("collected", "pair", False)


METER = {"wager": 100, "amount": 1}
WAGERS, POSITIONS = b'"wagers"', b'"positions"'
REFUSED = [
    (b"nonsense", "not_json", None),
    (b"", "not_json", None),
    (b'{"game": "three_card_poker"', "not_json", None),
    (b'{"game": "\xff"}', "not_json", None),
    (b"[]", "malformed", None),
    (b"{}", "malformed", None),
    (b'{"game": "three_card_poker", "x": ' + b"[" * 30_000, "malformed", None),
    (b'{"game": "three_card_poker", "meters": ' + b"[" * 30_000, "malformed", "meters"),
    (b'"' + b"x" * LINE_BYTES_MAX, "too_long", None),
    (b'"' + b"x" * 5 * LINE_BYTES_MAX, "too_long", None),
    (changed(game="poker"), "unknown_game", "game"),
    (changed(game="three_card_pokr"), "unknown_game", "is three_card_poker meant?"),
    (changed(colour="red"), "malformed", None),
    (changed(paytables={}), "bad_meter", "meters.progressive"),
    (changed(paytables={"mini_royal": 5}), "not_offered", "needs odds under the name"),
    (changed(paytables={"mini_royal": {"pair_plus": 10**40}}), "not_offered", "mini_royal"),
    (changed(paytables={"mini_royal": {"pair_plus": 10**6}}), "not_offered", "mini_royal"),
    (changed(paytables={"a": []}), "malformed", "paytables"),
    (changed(paytables=[]), "malformed", "paytables"),
    (changed(paytables={"p": "A"}).replace(b'"A"', b'"\xed\xa0\x80"'), "not_json", "paytables"),
    (changed(paytables={"p": "A"}).replace(b'"p"', b'"\xff"'), "not_json", "paytables"),
    (changed(positions=position({"progressive": True})), "malformed", "positions[0].wagers"),
    (changed(positions=position({"progressive": 1.0})), "malformed", "positions[0].wagers"),
    (changed(positions=position({"progressive": "100"})), "malformed", "positions[0].wagers"),
    (changed(positions=position({"ante": 5})).replace(b" 5}", b" 1e2}"), "malformed", "wagers"),
    (changed(positions=position({"ante": 1})).replace(b": 1}", b": 1,}"), "not_json", None),
    (changed(positions=position({"pairplus": 10})), "unknown_wager", "is pair_plus meant?"),
    (changed(game="poker", positions=position({"ante": "1"}), draw=5), "malformed", "wagers"),
    (changed().replace(WAGERS, WAGERS + b": 5, " + WAGERS), "malformed", "positions[0].wagers"),
    (changed().replace(WAGERS, rb'"w\u0061gers": {"a": "1"}, "wagers"'), "malformed", "wagers"),
    (
        changed().replace(POSITIONS, b'"positions": [{"wagers": 5}], "positions"'),
        "malformed",
        "positions[0].wagers",
    ),
    (changed(positions=position(position="3")), "malformed", "positions[0].position"),
    (changed(positions=position(folded=1)), "malformed", "positions[0].folded"),
    (changed(positions=position(patron="")), "malformed", "positions[0].patron"),
    (changed(positions=position(cards=["As", "Kd", "10s"])), "bad_card", "positions[0].cards"),
    (changed(positions=position(cards=["As", "Kd", "qs"])), "bad_card", "positions[0].cards"),
    (changed(community=["Js"]), "wrong_cards", "community"),
    (changed(draw={"magic_card": "Xs"}), "bad_card", "draw.magic_card"),
    (changed(draw={"lucky_position": "player"}), "malformed", "draw.lucky_position"),
    (changed(irregularity="misdeal"), "malformed", "irregularity"),
    (changed(meters={"jackpot": METER}), "unknown_meter", "meters.jackpot"),
    (changed(meters={"progressive": METER | {"wager": 200}}), "bad_meter", "meters.progressive"),
    (changed(meters={"progressive": METER | {"reserve": 0}}), "bad_meter", "progressive.reserve"),
    (changed(meters={"progressive": METER | {"amount": -1}}), "malformed", "meters"),
    (changed(meters={"progressive": METER | {"amount": 10**30}}), "malformed", "meters"),
    (changed(meters={"five_card_hand_bonus": METER | {"wager": 10**12}}), "malformed", "meters"),
    (
        changed(meters={"progressive": METER | {"amount": 2, "limit": 1}}),
        "bad_meter",
        "meters.progressive.amount",
    ),
    (
        changed(meters={"progressive": METER | {"limit": 2, "overflow": 1}}),
        "bad_meter",
        "meters.progressive.amount",
    ),
]


@pytest.mark.parametrize(("line", "code", "names"), REFUSED)
def test_a_round_that_cannot_be_settled_yields_an_error_in_its_place(
    line: bytes, code: str, names: str | None
) -> None:
    settled, all_settled = settle(changed(), line, changed())
    assert not all_settled
    good, bad, after = settled
    assert good == after
    assert "lines" in good
    assert list(bad) == ["error"]
    error = bad["error"]
    assert (error["code"], bool(error["message"])) == (code, True)
    if names is None:
        assert "field" not in error
    else:
        assert names in f"{error.get('field')} {error['message']}"


def test_wagers_that_were_accepted_before_are_judged_by_the_terms_of_their_own_round() -> None:
    """Accepted wagers and their lines are kept, but only for the same table and the same meters."""
    first = {"wager": 100, "amount": 151_234}
    lower = changed(meters={**ROYAL["meters"], "progressive": {"wager": 500, "amount": 151_234}})
    other = changed(paytables={**ROYAL["paytables"], "ante_bonus": "b-C"})
    plain = changed(positions=[{**ROYAL["positions"][0], "cards": ["9s", "9d", "5h"]}])
    seen, _ = settle(
        changed(), lower, other, plain, changed(), changed(meters={"progressive": first})
    )
    assert [answer.get("error", {}).get("code") for answer in seen] == [
        *(None, "wrong_amount", None, None, None, "unknown_meter")
    ]
    assert seen[4] == seen[0]
    assert [seen[at]["lines"][4]["paid"] for at in (0, 2)] == [5_000, 4_000]
    assert seen[3]["lines"][0]["hand"] == "pair"


def test_wagers_that_are_repeated_are_settled_as_at_first() -> None:
    """Lines are kept by table, position, wager, amount and hand."""

    def wagered(at: int, ante: int, *cards: str) -> list[dict[str, Any]]:
        wagers = {"ante": ante, "play": ante, "pair_plus": ante // 2, "progressive": 100}
        return [{"position": at, "cards": cards, "wagers": wagers}]

    royal, flush = ("As", "Ks", "Qs"), ("9s", "6s", "5s")
    lines = [
        changed(positions=wagered(at, ante, *cards), paytables={**ROYAL["paytables"], **other})
        for other in ({}, {"pair_plus": "C"})
        for cards in (royal, flush)
        for ante in (1_000, 2_000)
        for at in (3, 4)
    ]
    seen, all_settled = settle(*lines * 4)
    assert all_settled
    first = seen[: len(lines)]
    assert len({json.dumps(answer) for answer in first}) == len(lines)
    assert [{line["position"] for line in answer["lines"]} for answer in first] == [{3}, {4}] * 8
    assert seen == first * 4


def test_wagers_in_any_spelling_settle_alike() -> None:
    """The wagers that are decoded only once are known by their text, up to a length."""
    plain = json.dumps(ROYAL)
    spaces = plain.replace('"ante": 1000', '"ante": ' + " " * 600 + "1000")
    escaped = plain.replace('"play"', '"pl\\u0061y"')
    lines = [text.encode() for text in (plain, spaces, escaped)]
    assert len(set(lines)) == len(lines)
    answers, all_settled = settle(*lines, *lines)
    assert all_settled
    assert answers == [answers[0]] * 6


def test_the_written_settlement_is_the_one_that_pages_show() -> None:
    lines = [changed(), changed(dealer=["Qc", "Qd", "4h"]), changed(irregularity="void")]
    sink = io.BytesIO()
    assert settle_lines(io.BytesIO(b"\n".join(lines)), sink)
    shown = [msgspec.json.encode(settle_line(line)) for line in lines]
    assert sink.getvalue().splitlines() == shown


def test_the_last_line_need_not_end() -> None:
    sink = io.BytesIO()
    assert settle_lines(io.BytesIO(changed()), sink)
    assert sink.getvalue().count(b"\n") == 1


def test_a_line_of_the_longest_length_is_read() -> None:
    line = changed()
    settled, all_settled = settle(line + b" " * (LINE_BYTES_MAX - len(line)))
    assert all_settled
    assert "lines" in settled[0]
    assert not settle(line + b" " * (LINE_BYTES_MAX - len(line) + 1))[1]


@pytest.mark.parametrize("longest", [LINE_BYTES_MAX + 1, 3 * LINE_BYTES_MAX])
def test_lines_around_one_that_is_too_long_are_settled(longest: int) -> None:
    """Reads end anywhere in the lines."""
    lines = [changed()] * 200
    lines[100] = b" " * longest
    answers, _ = settle(*lines)
    codes = [answer["error"]["code"] if "error" in answer else None for answer in answers]
    assert codes == [*[None] * 100, "too_long", *[None] * 99]


@pytest.mark.parametrize(("last", "status"), [(b"", 0), (b"nonsense", 1)])
def test_an_answer_is_out_before_the_next_line_is_read_and_the_status_says_if_all_were_settled(
    last: bytes, status: int
) -> None:
    buffered = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    process = subprocess.Popen(
        [sys.executable, "-c", "from meters.cli.main import run; run()", "settle"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        env=buffered,
    )
    with process:
        assert process.stdin is not None
        assert process.stdout is not None
        for _ in range(2):
            process.stdin.write(changed() + b"\n")
            process.stdin.flush()
            answered, _, _ = select.select([process.stdout], [], [], 30)
            assert answered
            assert "lines" in json.loads(process.stdout.readline())
        process.stdin.write(last)
        process.stdin.close()
        assert process.wait(timeout=30) == status


@pytest.mark.parametrize("patron", ["p\x1b[2J", "p\r", "p\x9b", "p\u202e"])
def test_a_patron_that_cannot_be_printed_is_refused(patron: str) -> None:
    (answer,), all_settled = settle(changed(positions=position({}, patron=patron)))
    assert not all_settled
    error = answer["error"]
    assert (error["code"], error["field"]) == ("unprintable_text", "positions[0].patron")
    assert error["message"].isprintable()


def test_an_error_repeats_nothing_that_a_terminal_obeys() -> None:
    sink = io.BytesIO()
    assert not settle_lines(io.BytesIO(changed(game="x\x9b2J\u202e") + b"\n"), sink)
    assert sink.getvalue().strip().decode().isprintable()
