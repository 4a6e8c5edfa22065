"""A repeat of a refused event gets the first reply, also from a later release."""

import hashlib
from collections.abc import Awaitable, Callable, Iterator

import pytest

import meters.books.refusals
from meters.books.refusals import BY_STATUS, refused_by_script, refused_for_hold
from meters.books.script_loader import load_script
from tests.model.pit import PROGRESSIVE, Pit
from tests.mqtt.events import Event, encode, void, wagers
from tests.stored_tables import held_by, set_reply, stored_table

MAX = 9_007_199_254_740_991

Given = Callable[[Pit], Awaitable[object]]


async def _nothing(_: Pit) -> None:
    pass


async def _open_round(pit: Pit) -> None:
    await pit.wagers({1: PROGRESSIVE})


async def _void_round(pit: Pit) -> None:
    await _open_round(pit)
    await pit.void()


async def _two_wins(pit: Pit) -> None:
    reply = await pit.round({1: PROGRESSIVE, 2: PROGRESSIVE}, {1: "As Ks Qs", 2: "Ah Kh Qh"})
    assert len(reply.claims or ()) == 2


async def _full_meter(pit: Pit) -> None:
    await pit.redis.hset(pit.store.keys.accounts, "meter:progressive", str(MAX - 1))


async def _spent_house(pit: Pit) -> None:
    await _open_round(pit)
    await pit.redis.hset(pit.store.keys.accounts, "house", str(1 - MAX))


REFUSED = (
    pytest.param("round_open", _open_round, wagers(2, "R2"), id="round_open"),
    pytest.param("after_lockout", _open_round, wagers(2), id="after_lockout"),
    pytest.param("round_over", _void_round, void(3), id="round_over"),
    pytest.param("unknown_round", _nothing, void(1), id="unknown_round"),
    pytest.param(
        "link_closed",
        lambda pit: pit.redis.hset(pit.store.keys.meters, "closed", "no dealers"),
        wagers(1),
        id="link_closed",
    ),
    pytest.param("meter_full", _full_meter, wagers(1), id="meter_full"),
    pytest.param("books_full", _spent_house, void(2), id="books_full"),
    pytest.param("held", _two_wins, wagers(3, "R2"), id="held"),
)


@pytest.fixture
def later_release(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Give every refusal another text, as a later release might."""

    def change() -> None:
        for status in BY_STATUS:
            monkeypatch.setitem(BY_STATUS, status, 'other "words"')
        monkeypatch.setattr(meters.books.refusals, "held_by", lambda _: "other words ()")
        load_script.cache_clear()

    yield change
    monkeypatch.undo()
    load_script.cache_clear()


@pytest.mark.parametrize(("code", "given", "event"), REFUSED)
async def test_repeat_gets_the_words_of_the_release_that_refused_it(
    pit: Pit, later_release: Callable[[], None], code: str, given: Given, event: Event
) -> None:
    """The script builds the reply as the rest of the service encodes it from its type.

    An earlier release kept its code, with the claims that held the table at that time.
    """
    await given(pit)
    held = await held_by(pit.store, "T-1")
    payload, seq = encode(event), event["seq"]
    first = await pit.send("T-1", payload)
    status = next(status for status in BY_STATUS if status.value == code)
    due = refused_for_hold(seq, held) if code == "held" else refused_by_script(seq, status)
    assert first == due
    digest = hashlib.blake2b(payload, digest_size=16).hexdigest().encode()
    kept = (await stored_table(pit.store, "T-1")).replies[seq]
    await set_reply(pit.store, "T-1", seq, digest + (b"held\n" + held if held else code.encode()))
    assert await pit.send("T-1", payload) == first
    await set_reply(pit.store, "T-1", seq, kept)
    later_release()
    later = Pit(pit.redis)
    assert await later.send("T-1", payload) == first
    other = await later.send("T-1", encode(event | {"seq": seq + 1}))
    assert b"other" in (other or b""), "what it refuses itself, it words itself"
