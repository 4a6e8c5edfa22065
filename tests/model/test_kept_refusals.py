"""A repeat of a refused event gets the first reply, also from a later release."""

from collections.abc import Callable, Iterator

import msgspec
import pytest

import meters.store.event_refusals
from meters.store.event_refusals import BY_STATUS, refused_by_script
from meters.store.script_loader import load_script
from meters.wire import messages
from meters.wire.messages import ClaimOpened, ErrorDetail, Reply
from tests.model.pit import PROGRESSIVE, Pit
from tests.mqtt.events import Event, encode, result, void, wagers
from tests.stored_tables import held_by

MAX = 9_007_199_254_740_991

TWO_WINS = [
    {"position": 1, "cards": ["As", "Ks", "Qs"]}, {"position": 2, "cards": ["Ah", "Kh", "Qh"]},
]  # fmt: skip
TWO_BETS = [{"position": position, "wagers": {PROGRESSIVE: 100}} for position in (1, 2)]

REFUSED: dict[str, tuple[list[Event], tuple[str, str, str] | None, Event]] = {
    "round_open": ([wagers(1)], None, wagers(2, "R2")),
    "after_lockout": ([wagers(1)], None, wagers(2)),
    "round_over": ([wagers(1), void(2)], None, void(3)),
    "unknown_round": ([], None, void(1)),
    "link_closed": ([], ("meters", "closed", "no dealers"), wagers(1)),
    "meter_full": ([], ("accounts", "meter:progressive", str(MAX - 1)), wagers(1)),
    "books_full": ([wagers(1)], ("accounts", "house", str(1 - MAX)), void(2)),
    "held": ([wagers(1, positions=TWO_BETS), result(2, positions=TWO_WINS)], None, wagers(3, "R2")),
}
"""By its code: the events before, a field that is then set in Redis, and the refused event."""


@pytest.fixture
def later_release(monkeypatch: pytest.MonkeyPatch) -> Iterator[Callable[[], None]]:
    """Give every refusal another text, as a later release might."""

    def change() -> None:
        for status in BY_STATUS:
            monkeypatch.setitem(BY_STATUS, status, 'other "words"')
        monkeypatch.setattr(meters.store.event_refusals, "held_by", lambda _: "other words ()")
        load_script.cache_clear()

    yield change
    monkeypatch.undo()
    load_script.cache_clear()


@pytest.mark.parametrize("code", REFUSED)
async def test_repeat_gets_the_words_of_the_release_that_refused_it(
    pit: Pit, later_release: Callable[[], None], code: str
) -> None:
    """The script builds the reply as the rest of the service encodes it from its type."""
    before, stored, event = REFUSED[code]
    for one in before:
        assert b'"accepted"' in (await pit.send("T-1", encode(one)) or b"")
    if stored:
        key, field, value = stored
        await pit.redis.hset(getattr(pit.store.keys, key), field, value)
    held = await held_by(pit.store, "T-1")
    payload, seq = encode(event), event["seq"]
    first = await pit.send("T-1", payload)
    status = next(status for status in BY_STATUS if status.value == code)
    claims = [msgspec.json.decode(line, type=ClaimOpened) for line in held.splitlines()]
    error = ErrorDetail(code=code, message=messages.held_by(one.claim for one in claims))
    due = Reply(seq=seq, status="refused", claims=tuple(claims), error=error)
    assert first == (msgspec.json.encode(due) if held else refused_by_script(seq, status))
    later_release()
    later = Pit(pit.redis)
    assert await later.send("T-1", payload) == first
    other = await later.send("T-1", encode(event | {"seq": seq + 1}))
    assert b"other" in (other or b""), "what it refuses itself, it words itself"
