"""Every status of `decide_ask`; it writes one entry and one decision, or nothing."""

import msgspec
import pytest

from meters.books.correction_requests import Ask, AskAct, Correction, known_text
from meters.books.script_steps import AskStep, Kind, ScriptStep, Status
from meters.books.store import TermsError, WrongStateError
from meters.wire.messages import EnteredCards
from tests.lua.books import Books, Step, wagers

CORRECTION = Correction(
    "void", "R1", "misdeal", (EnteredCards(what="hand", position=1, cards=["As"]),)
)
ASK = Ask("lua.T-1-2", "T-1", "2026-11-20T02:14:07.250Z", CORRECTION)
KNOWN = known_text(CORRECTION.entered)
REFUSAL = ',"status":"refused"}'
ACTS: tuple[AskAct, ...] = ("confirm_correction", "refuse_correction")


def void(seq: int, ask: Ask = ASK, digest: str = CORRECTION.digest) -> ScriptStep:
    """Return a void that a floorperson must confirm."""
    asked = AskStep(digest, ask.ask, msgspec.json.encode(ask).decode(), KNOWN)
    return Step(
        table="T-1", seq=seq, digest=f"{seq:032}", kind=Kind.VOID, round="R1",
        basis=None, work=None, act=True, ask=asked, reply=(f'{{"seq":{seq}}}',),
    )  # fmt: skip


async def asked(books: Books) -> None:
    """Have the table send the request."""
    await books.accept(wagers(1))
    assert (await books.one(void(2))).status is Status.UNCONFIRMED


async def decide(books: Books, act: AskAct, ask: Ask = ASK, by: str = "Ada") -> int:
    event = b'{"act":"%s"}' % act.encode()
    return await books.store.decide_ask(ask, act, by, event, refusal=REFUSAL)


@pytest.mark.parametrize("act", ACTS)
async def test_terms_come_first(books: Books, act: AskAct) -> None:
    await asked(books)
    await books.redis.hset(books.keys.meters, "terms", "others")
    before = await books.keyspace()
    with pytest.raises(TermsError):
        await decide(books, act)
    assert await books.keyspace() == before


@pytest.mark.parametrize("act", ACTS)
@pytest.mark.parametrize(
    "ask",
    [
        msgspec.structs.replace(ASK, ask="lua.T-1-3"),
        msgspec.structs.replace(ASK, ask="lua.T-1-"),
        msgspec.structs.replace(ASK, table="T-2"),
        msgspec.structs.replace(ASK, correction=msgspec.structs.replace(CORRECTION, reason="x")),
    ],
)
async def test_another_id_table_or_content_is_not_what_is_asked(
    books: Books, act: AskAct, ask: Ask
) -> None:
    await asked(books)
    before = await books.keyspace()
    with pytest.raises(WrongStateError) as error:
        await decide(books, act, ask)
    assert error.value.state == ""
    assert await books.keyspace() == before


@pytest.mark.parametrize("first", ACTS)
@pytest.mark.parametrize("second", ACTS)
async def test_it_is_decided_once(books: Books, first: AskAct, second: AskAct) -> None:
    await asked(books)
    await decide(books, first)
    before = await books.keyspace()
    with pytest.raises(WrongStateError) as error:
        await decide(books, second, by="Bob")
    state = "confirmed" if first == "confirm_correction" else "refused"
    assert (error.value.state, error.value.by) == (state, "Ada")
    assert await books.keyspace() == before


@pytest.mark.parametrize("act", ACTS)
async def test_a_decision_is_an_entry_among_the_acts_and_moves_nothing(
    books: Books, act: AskAct
) -> None:
    await asked(books)
    accounts = await books.accounts()
    number = await decide(books, act)
    entry = await books.last_entry()
    assert (entry["id"], entry["kind"], entry["by"]) == (str(number), act, "Ada")
    assert (entry["table"], entry["round"], entry["transfers"]) == ("T-1", "R1", "[]")
    assert await books.accounts() == accounts
    assert await books.redis.zscore(books.keys.acts, str(number)) == number


async def test_a_confirmed_event_carries_who_confirmed_and_uses_it_up(books: Books) -> None:
    await asked(books)
    await decide(books, "confirm_correction")
    (answer,) = await books.accept(void(3))
    assert answer.confirmed_by == "Ada"
    assert (await books.last_entry())["by"] == "table:T-1, confirmed by Ada"
    assert await books.redis.exists(books.keys.asks) == 0


async def test_a_refused_event_gets_once_who_refused_and_why(books: Books) -> None:
    await asked(books)
    await decide(books, "refuse_correction")
    answer = await books.one(void(3))
    refusal = '{"seq":3' + REFUSAL
    assert (answer.status, answer.text) == (Status.CORRECTION_REFUSED, refusal)
    again = await books.one(void(3))
    assert (again.status, again.text) == (Status.AGAIN, refusal)
    assert (await books.one(void(4))).asked
