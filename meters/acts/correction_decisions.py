"""Correction requests of tables, and the floorpersons' decisions on these requests."""

from collections.abc import Callable, Mapping, Sequence

import msgspec
import structlog

from meters.acts.act_refusals import ActError, RunningLink, store_failure_as_inoperable
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
from meters.store.link_store import WrongStateError
from meters.wire.messages import EnteredCards

log = structlog.get_logger()


class Asks:
    """The correction requests of all links. `ring` informs the floor pages of each decision."""

    def __init__(
        self, floor: Floor, links: Mapping[str, RunningLink], ring: Callable[[], None]
    ) -> None:
        self._links = links
        self._ring = ring
        self._names = {link.id: link.name for link in floor.link}
        self._assets = {
            (link.id, table.id): table.asset for link in floor.link for table in link.table
        }

    async def asks(self) -> Sequence[AskRow]:
        """Return the undecided correction requests, the oldest first.

        A request that somebody altered in Redis is logged and left out.

        Raises:
            ActError: ``link_inoperable``.
        """
        rows: list[AskRow] = []
        for link, running in self._links.items():
            with store_failure_as_inoperable():
                stored = [*stored_asks(await running.store.asks())]
            rows += [
                self._row(link, ask)
                for one in stored
                if not one.decision and (ask := _sound(link, one)) is not None
            ]
        return sorted(rows, key=lambda row: (row.at, row.ask))

    async def decide(self, ask: str, act: AskAct, actor: str, *, reason: str = "") -> AskRow:
        """Confirm or refuse a table's correction request, exactly once. Return the request.

        Raises:
            ActError: ``unknown_ask`` if the table no longer has this request; ``wrong_state`` with
                the person who decided earlier; ``link_inoperable``.
        """
        with store_failure_as_inoperable():
            link, found = await self._find(ask)
            running = self._links[link]
            if problem := running.problem:
                raise ActError("link_inoperable", problem)
            correction, confirms = found.correction, act == "confirm_correction"
            refusal = "" if confirms else correction_refusal(actor, reason)
            decision = AskDecision(
                ask,
                act,
                actor,
                correction.what,
                correction.round,
                correction.digest,
                reason,
                correction.entered,
                correction.wager,
            )
            try:
                event = msgspec.json.encode(decision)
                entry = await decide_ask(running.store, found, act, actor, event, refusal=refusal)
            except WrongStateError as error:
                if not error.state:
                    raise _unknown(ask) from None
                by = f"the request is already {error.state} by {error.by}"
                raise ActError("wrong_state", by) from None
            await running.keep_mark()
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
        if (running := self._links.get(link)) is not None:
            for one in stored_asks(await running.store.asks()):
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
    return ActError("unknown_ask", f"the table no longer has the correction request {ask}")
