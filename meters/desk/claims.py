"""The claims desk: wins that wait for a floorperson, and what floorpersons make of them."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Final, Literal

import msgspec
import structlog
from redis.exceptions import RedisError

from meters.books.steps import PaidDue
from meters.books.store import Act, Decided, LinkStore, TermsError, WrongStateError
from meters.intake.result_work import ClaimRecord, OpenedClaim
from meters.web.doors import ClaimError, ClaimRow, ClaimState
from meters.wire.clock import now_text
from meters.wire.messages import Jackpot

log = structlog.get_logger()

LISTED_MAX: Final = 1_000
_RECORD: Final = msgspec.json.Decoder(ClaimRecord)
_FINAL: Final = frozenset({"validated", "paid", "rejected"})
_EVENT_OF: Final[Mapping[str, Literal["validated", "rejected", "paid"]]] = {
    "validated": "validated",
    "rejected": "rejected",
    "paid": "paid",
}


class Decision(msgspec.Struct, frozen=True, omit_defaults=True):
    """What a floorperson decided, as the ledger keeps it."""

    claim: str
    act: Act
    by: str
    reason: str | None = None
    slip: str | None = None


def hit_message(opened: OpenedClaim, paid: PaidDue) -> Jackpot:
    """A win as it is told to all displays at once (duty D8)."""
    return _jackpot("hit", opened.record, paid.amount_cents, paid.meter_after_cents)


def waiting_hit(fields: Mapping[str, str]) -> Jackpot | None:
    """The hit of a claim that took from the meter and is not validated yet, or None."""
    record = _RECORD.decode(fields["record"])
    if record.percent is None or fields["state"] != "pending":
        return None
    return _jackpot("hit", record, int(fields["amount"]), int(fields["after"]))


class FloorDesk:
    """The claims of all links.

    Args:
        stores: each link's books.
        problem: why a link is inoperable, or None; nothing is decided on such a link.
        tell: is given each decision's jackpot message, with the claim's record.
    """

    def __init__(
        self,
        stores: Mapping[str, LinkStore],
        problem: Callable[[str], str | None],
        tell: Callable[[ClaimRecord, Jackpot], None],
    ) -> None:
        self._stores = stores
        self._problem = problem
        self._tell = tell

    async def waiting(self) -> Sequence[ClaimRow]:
        """The claims that are not yet decided for good, oldest first.

        Raises:
            ClaimError: ``link_inoperable``: the store cannot be read.
        """
        rows: list[ClaimRow] = []
        for store in self._stores.values():
            with _told_as_inoperable():
                ids = await store.waiting(LISTED_MAX)
                rows += [_row(fields) for fields in await store.claims(ids) if fields]
        return sorted(rows, key=lambda row: (row.at, int(row.order)))

    async def decide(
        self, claim: str, act: Act, actor: str, reason: str | None, slip: str | None
    ) -> ClaimRow:
        """Carry one decision, once; whoever comes second is told who was first.

        Raises:
            ClaimError: nothing changed: ``unknown_claim``, ``wrong_state``, or
                ``link_inoperable``.
        """
        with _told_as_inoperable():
            store, fields = await self._find(claim)
            if problem := self._problem(store.link.id):
                raise ClaimError("link_inoperable", problem)
            record = _RECORD.decode(fields["record"])
            decided = await self._carry(store, record, Decision(claim, act, actor, reason, slip))
            after = (await store.claims([claim]))[0]
        log.info("claim", claim=claim, act=act, by=actor, amount_cents=decided.amount_cents)
        self._tell(record, self._told(record, decided))
        return _row(after)

    @staticmethod
    async def _carry(store: LinkStore, record: ClaimRecord, decision: "Decision") -> Decided:
        try:
            return await store.decide(
                decision.claim,
                decision.act,
                decision.by,
                msgspec.json.encode(decision),
                table=record.table,
                round_id=record.round,
                meter=record.meter,
                percent=record.percent is not None,
                hand_pay=record.paid_from == "hand_pay",
            )
        except WrongStateError as error:
            raise ClaimError("wrong_state", _why_not(record, decision.act, error)) from None
        except TermsError as error:
            raise ClaimError("link_inoperable", str(error)) from None

    async def retell(self, link: str, claims: Sequence[str]) -> None:
        """Tell once more what became of claims, to a table that may have missed it.

        Raises:
            RedisError: the store cannot be read.
        """
        for fields in await self._stores[link].claims(claims):
            if fields and fields["state"] in _FINAL:
                record = _RECORD.decode(fields["record"])
                self._tell(
                    record,
                    _jackpot(
                        _EVENT_OF[fields["state"]],
                        record,
                        int(fields["amount"]),
                        int(fields["after"]),
                    ),
                )

    async def _find(self, claim: str) -> tuple[LinkStore, dict[str, str]]:
        """A claim and the books that hold it; its table may have left the floor since."""
        for store in self._stores.values():
            (fields,) = await store.claims([claim])
            if fields:
                return store, fields
        raise ClaimError("unknown_claim", f"there is no claim {claim}")

    @staticmethod
    def _told(record: ClaimRecord, decided: Decided) -> Jackpot:
        return _jackpot(
            _EVENT_OF[decided.state], record, decided.amount_cents, decided.meter_after_cents
        )


@contextmanager
def _told_as_inoperable() -> Iterator[None]:
    """A store that fails is told as what it is to whoever asks: a link that cannot operate."""
    try:
        yield
    except (RedisError, OSError) as error:
        raise ClaimError("link_inoperable", f"the store does not answer: {error}") from None


def _why_not(record: ClaimRecord, act: Act, error: WrongStateError) -> str:
    by = f" by {error.by}" if error.by else ""
    if act == "pay" and record.paid_from != "hand_pay":
        return f"claim {record.claim} is paid at the table, not by hand"
    if act == "pay" and error.state == "pending":
        return f"claim {record.claim} has not been validated yet"
    return f"claim {record.claim} is already {error.state}{by}"


def _jackpot(
    event: Literal["hit", "validated", "rejected", "paid"],
    record: ClaimRecord,
    amount_cents: int,
    after_cents: int,
) -> Jackpot:
    return Jackpot(
        event=event,
        claim=record.claim,
        meter=record.meter,
        table=record.table,
        position=record.position,
        item=record.item,
        hand=record.hand,
        amount=amount_cents,
        meter_after=after_cents,
        at=now_text(),
    )


def _row(fields: Mapping[str, str]) -> ClaimRow:
    record = _RECORD.decode(fields["record"])
    decision = (
        msgspec.json.decode(fields["decision"], type=Decision) if "decision" in fields else None
    )
    act = decision.act if decision else ""
    return ClaimRow(
        claim=record.claim,
        order=fields["entry"],
        link=record.link,
        meter=record.meter,
        table=record.table,
        asset=record.asset,
        round=record.round,
        position=record.position,
        patron=record.patron,
        item=record.item,
        hand=record.hand,
        cards=record.cards,
        dealer=record.dealer,
        community=record.community,
        amount=int(fields["amount"]),
        percent=record.percent,
        paid_from=record.paid_from,
        state=msgspec.convert(fields["state"], ClaimState),
        at=fields["at"],
        decided_by=fields.get("by"),
        decided_at=fields.get(f"{act}_at"),
        reason=decision.reason if decision else None,
        slip=decision.slip if decision else None,
    )
