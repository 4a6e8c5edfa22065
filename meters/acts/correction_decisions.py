"""Correction requests of tables, and the floorpersons' decisions on these requests."""

from collections.abc import Awaitable, Callable, Mapping, Sequence

import msgspec
import structlog

from meters.acts.act_refusals import ActError, store_failure_as_inoperable
from meters.acts.claim_types import AskedCards, AskedWager, AskRow
from meters.floor.floor_file import Floor
from meters.ledger.table_corrections import (
    Ask,
    AskAct,
    AskDecision,
    Correction,
    StoredAsk,
    stored_asks,
)
from meters.store.event_refusals import correction_refusal
from meters.store.link_acts import decide_ask
from meters.store.link_store import LinkStore, WrongStateError
from meters.wire.messages import EnteredCards

log = structlog.get_logger()


class Asks:
    """The correction requests of all links.

    `problem` returns why a link is inoperable, or None. After each decision, `keep_mark` writes the
    link's ledger mark (its last ledger entry, kept outside Redis), and `ring` informs the floor
    pages.
    """

    def __init__(
        self,
        floor: Floor,
        stores: Mapping[str, LinkStore],
        problem: Callable[[str], str | None],
        keep_mark: Callable[[str], Awaitable[None]],
        ring: Callable[[], None],
    ) -> None:
        self._stores = stores
        self._problem = problem
        self._keep_mark = keep_mark
        self._ring = ring
        self._names = {link.id: link.name for link in floor.link}
        self._assets = {
            (link.id, table.id): table.asset for link in floor.link for table in link.table
        }

    async def asks(self) -> Sequence[AskRow]:
        """Return the correction requests that nobody has decided, the oldest first.

        A request that somebody altered in Redis is left out. The audit reports such a request.

        Raises:
            ActError: ``link_inoperable`` if Redis cannot be read.
        """
        rows: list[AskRow] = []
        for link, store in self._stores.items():
            with store_failure_as_inoperable():
                stored = [*stored_asks(await store.asks())]
            rows += [
                self._row(link, ask)
                for one in stored
                if not one.decision and (ask := _sound(link, one)) is not None
            ]
        return sorted(rows, key=lambda row: (row.at, row.ask))

    async def decide(self, ask: str, act: AskAct, actor: str, *, reason: str = "") -> AskRow:
        """Confirm or refuse a table's correction request, exactly once. Return the request.

        Raises:
            ActError: nothing has changed. The codes are: ``unknown_ask`` if the table no longer has
                this request; ``wrong_state`` with the person who decided earlier;
                ``link_inoperable``.
        """
        with store_failure_as_inoperable():
            link, found = await self._find(ask)
            if problem := self._problem(link):
                raise ActError("link_inoperable", problem)
            correction, confirms = found.correction, act == "confirm_correction"
            refusal = "" if confirms else correction_refusal(actor, reason)
            decision = AskDecision(
                ask, act, actor, correction.what, correction.round, correction.digest, reason,
                correction.entered, correction.wager,
            )  # fmt: skip
            try:
                entry = await decide_ask(
                    self._stores[link],
                    found,
                    act,
                    actor,
                    msgspec.json.encode(decision),
                    refusal=refusal,
                )
            except WrongStateError as error:
                if not error.state:
                    raise _unknown(ask) from None
                by = f"it is already {error.state} by {error.by}"
                raise ActError("wrong_state", by) from None
            await self._keep_mark(link)
        log.info(
            "correction decided",
            link=link,
            table=found.table,
            round=correction.round,
            act=act,
            by=actor,
            type=correction.what,
            entry=entry,
        )
        self._ring()
        return self._row(link, found)

    async def _find(self, ask: str) -> tuple[str, Ask]:
        link = ask.partition(".")[0]
        if (store := self._stores.get(link)) is not None:
            for one in stored_asks(await store.asks()):
                if one.ask_id == ask and (found := _sound(link, one)) is not None:
                    return link, found
        raise _unknown(ask)

    def _row(self, link: str, ask: Ask) -> AskRow:
        correction = ask.correction
        return AskRow(
            ask=ask.ask,
            link=link,
            link_name=self._names.get(link, link),
            table=ask.table,
            asset=self._assets.get((link, ask.table), ""),
            round=correction.round,
            what=correction.what,
            reason=correction.reason or None,
            cards=tuple(_cards(each, correction) for each in correction.entered),
            wager=msgspec.convert(correction.wager, AskedWager | None, from_attributes=True),
            at=ask.at,
        )


def _cards(entered: EnteredCards, correction: Correction) -> AskedCards:
    return AskedCards(
        what=entered.what,
        position=entered.position,
        before=tuple(entered.cards),
        after=tuple(correction.settled(entered)),
        taken_back=entered.taken_back,
        reason=entered.reason,
        before_no_win=entered.no_win,
        after_no_win=correction.declared(entered),
        after_folded=correction.folded(entered),
    )


def _sound(link: str, stored: StoredAsk) -> Ask | None:
    try:
        return stored.ask
    except ValueError as error:
        reason = str(error)
    log.error("ask altered", link=link, table=stored.table, reason=reason)
    return None


def _unknown(ask: str) -> ActError:
    return ActError("unknown_ask", f"the table no longer asks for {ask}")
