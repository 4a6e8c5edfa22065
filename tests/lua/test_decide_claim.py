"""Decisions on wins and on Envy Bonuses: every status in every state.

The state machine of `tests.model` compares what each decision moves with the second books.
"""

from typing import Final, cast

import msgspec
import pytest

from meters.ledger.link_state import Act, EnvyAct
from meters.ledger.script_steps import AskStep, Kind, Status
from meters.ledger.table_corrections import Ask, AskAct, Correction, known_text
from meters.store.link_acts import decide_ask
from meters.store.link_store import BooksError, TermsError, WrongStateError
from meters.wire.messages import EnteredCards
from tests.lua.books import (
    BONUS,
    CENT,
    MAX,
    METER,
    Books,
    Step,
    envy_due,
    envy_under,
    result,
    share,
    take,
    wagers,
)

CLAIM: Final = "T-1-2-1"
OWED: Final = ((METER, 1_000), (BONUS, 250))
ENVY: Final = 1_250 * CENT
OF_WIN: Final = ("validate", "reject", "pay")
OF_ENVY: Final = ("pay_envy", "reject_envy")


async def _win(books: Books, *, envy: bool = True) -> None:
    """Open the claim of a tenth of the meter, with the Envy Bonuses that its hand brings."""
    await books.accept(wagers(1))
    owed = (envy_due(1_000, CLAIM), envy_due(250, CLAIM, meter=BONUS)) if envy else ()
    under = [envy_under(CLAIM)] if envy else []
    won = result(2, share(claim=CLAIM), *owed, takes=[take(10)], basis=1, envy=under)
    await books.accept(won)


async def _do(
    books: Books, act: str, claim: str = CLAIM, by: str | None = None, *, hand_pay: bool = True,
    owed: tuple[tuple[str, int], ...] = OWED,
) -> None:  # fmt: skip
    if act in OF_ENVY:
        await books.decide_envy(claim, cast("EnvyAct", act), *owed, by=by or "cora")
    else:
        await books.decide(claim, cast("Act", act), by=by, hand_pay=hand_pay)


@pytest.mark.parametrize(
    ("done", "hand_pay", "refused", "state", "by"),
    [
        ("", True, "pay", "pending", ""),
        ("", False, "pay", "pending", ""),
        ("validate", True, "validate reject", "validated", "floor"),
        ("validate", False, "validate reject pay", "validated", "floor"),
        ("reject", True, "validate reject pay", "rejected", "floor"),
        ("reject", False, "validate reject pay", "rejected", "floor"),
        ("validate pay", True, "validate reject pay", "paid", "cashier"),
        ("", True, "pay_envy reject_envy", "pending", ""),
        ("validate pay_envy", True, "pay_envy reject_envy", "paid", "cora"),
        ("validate reject_envy", True, "pay_envy reject_envy", "rejected", "cora"),
        ("reject pay_envy", True, "pay_envy reject_envy", "paid", "cora"),
    ],
)
async def test_a_decision_out_of_turn_names_the_state_and_changes_nothing(
    books: Books, done: str, refused: str, state: str, by: str, *, hand_pay: bool
) -> None:
    await _win(books)
    for act in done.split():
        await _do(books, act, hand_pay=hand_pay)
    for act in refused.split():
        async with books.refuses(WrongStateError) as error:
            await _do(books, act, by="another", hand_pay=hand_pay)
        assert (error.value.state, error.value.by) == (state, by), act


@pytest.mark.parametrize("act", [*OF_WIN, *OF_ENVY])
async def test_terms_come_before_an_unknown_claim_and_that_before_every_state(
    books: Books, act: str
) -> None:
    await _win(books, envy=False)
    for claim in ("T-1-9-9", *([CLAIM] if act in OF_ENVY else [])):
        async with books.refuses(WrongStateError) as refused:
            await _do(books, act, claim)
        assert (refused.value.state, refused.value.by) == ("", "")
    await books.alter_terms()
    for claim in (CLAIM, "T-1-9-9"):
        async with books.refuses(TermsError):
            await _do(books, act, claim)


MORE: Final = ((METER, 1_000), (BONUS, 251))
Altered = str | tuple[str, str] | tuple[tuple[str, int], ...]


@pytest.mark.parametrize(
    ("act", "done", "altered"),
    [
        ("pay", "validate", ("amount", "9999999")),
        ("pay", "validate pay", ("state", "validated")),
        *((act, "validate", altered) for act in OF_ENVY for altered in (f"envy:{CLAIM}", MORE)),
    ],
)
async def test_what_the_books_do_not_hold_is_not_decided(
    books: Books, act: str, done: str, altered: Altered
) -> None:
    """An altered amount is not paid, and a paid claim set back to waiting is not paid twice."""
    await _win(books)
    for each in done.split():
        await _do(books, each)
    if isinstance(altered, str):
        await books.set_accounts({altered: ENVY - 1})
    elif altered is not MORE:
        field, value = cast("tuple[str, str]", altered)
        await books.redis.hset(books.keys.claim(CLAIM), field, value)
    async with books.refuses(BooksError, "books_differ"):
        await _do(books, act, owed=MORE if altered is MORE else OWED)


@pytest.mark.parametrize(
    ("act", "account", "cents"),
    [("reject", f"meter:{METER}", 10_001), ("pay_envy", "paid", 1_250),
     ("reject_envy", "house", 1_250)],
)  # fmt: skip
async def test_decision_that_the_books_cannot_hold_changes_nothing(
    books: Books, act: str, account: str, cents: int
) -> None:
    await _win(books)
    if act != "reject":
        await _do(books, "validate")
    await books.set_accounts({account: MAX - cents * CENT + 1})
    async with books.refuses(BooksError, "books_full"):
        await _do(books, act)
    await books.set_accounts({account: MAX - cents * CENT})
    await _do(books, act)
    assert (await books.accounts())[account] == MAX


@pytest.mark.duty("D4", proof=True)
async def test_who_validated_does_not_pay(books: Books) -> None:
    """Duty D4: a win is validated and paid by two people."""
    await _win(books)
    await _do(books, "validate", by="amy")
    async with books.refuses(BooksError, "same_person"):
        await _do(books, "pay", by="amy")
    assert (await books.decide(CLAIM, "pay", by="ben")).state == "paid"


async def test_version_rises_when_a_meter_is_no_longer_pending(books: Books) -> None:
    await _win(books)
    version = (await books.store.state()).meters[0].version
    await _do(books, "validate")
    await _do(books, "pay_envy")
    assert (await books.store.state()).meters[0].version == version + 1


@pytest.mark.duty("D11")
@pytest.mark.parametrize("act", ["validate", "reject"])
async def test_table_is_sent_the_last_decisions_again_each_once(books: Books, act: str) -> None:
    """A claim that waited long is in its list once it is decided: a table may have been away."""
    await _win(books)
    many = [f"T-1-{number}-1" for number in range(10, 74)]
    await books.redis.hset(books.keys.repeated_claims, "T-1", " ".join(many))
    for each in (act, "pay") if act == "validate" else (act,):
        await _do(books, each)
        (state,) = await books.store.table_states(["T-1"])
        assert state.claims == (*many[1:], CLAIM)


# Every status of `decide_ask`: it writes one entry and one decision, or nothing.

CORRECTION: Final = Correction(
    "void", "R1", "misdeal", (EnteredCards(what="hand", position=1, cards=["As"]),)
)
ASK: Final = Ask("lua.T-1-2", "T-1", "2026-11-20T02:14:07.250Z", CORRECTION)
ACTS: Final[tuple[AskAct, ...]] = ("confirm_correction", "refuse_correction")


@pytest.fixture
async def asked(books: Books) -> Books:
    text = msgspec.json.encode(ASK).decode()
    step = AskStep(CORRECTION.digest, ASK.ask, text, known_text(CORRECTION.entered))
    await books.accept(wagers(1))
    void = Step(
        table="T-1", seq=2, digest=f"{2:032}", kind=Kind.VOID, round="R1", basis=None, work=None,
        act=True, ask=step, reply=('{"seq":2}',),
    )  # fmt: skip
    assert (await books.one(void)).status is Status.UNCONFIRMED
    return books


async def decide(books: Books, act: AskAct, ask: Ask = ASK, by: str = "Ada") -> int:
    event = b'{"act":"%s"}' % act.encode()
    return await decide_ask(books.store, ask, act, by, event, refusal=',"status":"refused"}')


@pytest.mark.parametrize("act", ACTS)
async def test_terms_come_before_another_id_table_or_content(asked: Books, act: AskAct) -> None:
    """With any of these it is not what the table asks."""
    for changed in (
        {"ask": "lua.T-1-3"},
        {"ask": "lua.T-1-"},
        {"table": "T-2"},
        {"correction": msgspec.structs.replace(CORRECTION, reason="x")},
    ):
        async with asked.refuses(WrongStateError) as error:
            await decide(asked, act, msgspec.structs.replace(ASK, **changed))
        assert error.value.state == ""
    await asked.alter_terms()
    for changed in ({}, {"ask": "lua.T-1-3"}):
        async with asked.refuses(TermsError):
            await decide(asked, act, msgspec.structs.replace(ASK, **changed))


@pytest.mark.parametrize("first", ACTS)
@pytest.mark.parametrize("second", ACTS)
async def test_it_is_decided_once_and_moves_nothing(
    asked: Books, first: AskAct, second: AskAct
) -> None:
    accounts = await asked.accounts()
    number = await decide(asked, first)
    entry = await asked.last_entry()
    assert (entry["id"], entry["kind"], entry["by"]) == (str(number), first, "Ada")
    assert (entry["table"], entry["round"], entry["transfers"]) == ("T-1", "R1", "[]")
    assert await asked.accounts() == accounts
    async with asked.refuses(WrongStateError) as error:
        await decide(asked, second, by="Bob")
    state = "confirmed" if first == "confirm_correction" else "refused"
    assert (error.value.state, error.value.by) == (state, "Ada")
