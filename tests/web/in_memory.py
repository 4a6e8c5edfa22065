"""In-memory versions of the code for claims, corrections and links, with the same rules."""

import itertools
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Final, Literal

import msgspec

from bonus.display import money
from meters.books.correction_requests import AskAct
from meters.books.link_state import Act, EnvyAct
from meters.books.two_people import NO_SETTERS, PinSetters
from meters.claims.claims import Claims
from meters.claims.correction_requests import Asks
from meters.floor.floor_file import Floor
from meters.floor_api.change_signal import ChangeSignal
from meters.floor_api.errors import ActError
from meters.floor_api.types import (
    ActRow,
    Adjustment,
    AskedCards,
    AskRow,
    ClaimRequestRow,
    ClaimRow,
    ClaimState,
    EnvyOwed,
    LinkView,
    MeterAccounting,
    MeterParameters,
    ParameterChange,
    ProposalRow,
    UnapprovedRow,
    Wagered,
    WinPage,
    WinSearch,
)
from meters.links.links import Links

AT: Final = "2026-11-20T02:14:07.250Z"

CLAIM: Final = ClaimRow(
    claim="c1", order="17", turn=1, turns=2, link="tcp-main",
    link_name="Three Card Poker Jackpot", meter="progressive", meter_name="Progressive",
    table="TCP-03", asset="104213", round="R9", position=3, patron="p3", item="progressive",
    item_name="Progressive Payout Wager", hand="mini_royal_spades", hand_name="Mini-Royal, spades",
    cards=("As", "Ks", "Qs"), dealer=("2c", "3d", "4h"), wagered=100, amount=151_000,
    meter_after=100_000, percent=100, paid_from="hand_pay", rule="649a.12(e)(1)",
    wagers=(
        Wagered(position=3, patron="p3", wagers={"progressive": 100, "five_card_progressive": 100}),
        Wagered(position=5, patron=None, wagers={"progressive": 100}),
    ),
    envy=(EnvyOwed(position=5, patron=None, item="progressive_envy", amount=10_000),),
    envy_amount=10_000, envy_state="pending", state="pending", at=AT, tax_documents=True,
)  # fmt: skip
"""A hand pay, with an Envy Bonus for another position."""

SMALL: Final = msgspec.structs.replace(
    CLAIM, claim="c2", order="18", turn=2, position=5, patron=None, hand="straight_flush",
    hand_name="Straight flush", cards=("9h", "8h", "7h"), amount=7_000, meter_after=100_000,
    percent=None, paid_from="table_inventory", envy=(), envy_amount=0, envy_state=None,
    at="2026-11-20T02:14:08.000Z", tax_documents=False,
)  # fmt: skip
"""A win at odds, which is paid from the table inventory."""

_OVER: Final = {"paid", "rejected"}


@dataclass
class ClaimsInMemory(Claims):
    """In-memory claims. A test may fill `claims`; `acts` has the acts that reached it."""

    bell: ChangeSignal
    claims: dict[str, ClaimRow] = field(default_factory=lambda: {"c1": CLAIM, "c2": SMALL})
    acts: list[tuple[str, str, str, str | None, str | None, bool]] = field(default_factory=list)

    def put(self, row: ClaimRow) -> None:
        self.claims[row.claim] = row
        self.bell.ring()

    async def waiting(self) -> Sequence[ClaimRow]:
        return [row for row in self.claims.values() if not _decided(row)]

    async def to_reopen(self) -> Sequence[ClaimRow]:
        rows = self.claims.values()
        return [row for row in rows if row.state == "rejected" and row.request is not None]

    async def hand(self, claim: str) -> Sequence[ClaimRow]:
        """Return the only claim of the hand."""
        return [await self.find(claim)]

    async def find(self, claim: str) -> ClaimRow:
        if claim not in self.claims:
            raise ActError("unknown_claim", f"there is no claim {claim}")
        return self.claims[claim]

    async def decide(
        self,
        claim: str,
        act: Act,
        actor: str,
        *,
        reason: str | None = None,
        slip: str | None = None,
        envy_not_due: bool = False,
        envy_paid: bool = False,
        setters: PinSetters = NO_SETTERS,
        confirms: ClaimRequestRow | None = None,
    ) -> ClaimRow:
        row = await self.find(claim)
        by_hand = row.paid_from == "hand_pay"
        if act == "pay" and not by_hand:
            raise ActError("wrong_state", f"claim {claim} is paid at the table, not by hand")
        if act == "pay" and row.state == "pending":
            raise ActError("wrong_state", f"claim {claim} has not been validated yet")
        if row.state != ("validated" if act == "pay" else "pending"):
            raise ActError(
                "wrong_state", f"claim {claim} is already {row.state} by {row.decided_by}"
            )
        if act == "pay":
            _check_another(row.validated_by, actor, setters)
        self.acts.append((claim, act, actor, reason, slip, envy_not_due))
        replace = msgspec.structs.replace
        if act == "validate":
            row = replace(row, state="validated", validated_by=actor, validated_at=AT)
        elif act == "pay":
            row = replace(row, state="paid", paid_by=actor, paid_at=AT, slip=slip)
        else:
            row = replace(row, state="rejected", reason=reason, envy_not_due=envy_not_due)
        if row.envy_state is not None:
            state: ClaimState = "rejected" if envy_not_due else "paid" if envy_paid else "validated"
            row = replace(row, envy_state=state, envy_by=actor, envy_at=AT)
        self.put(replace(row, decided_by=actor, decided_at=AT))
        return self.claims[claim]

    async def reject(
        self, claim: str, actor: str, *, reason: str, envy_not_due: bool = False,
        setters: PinSetters = NO_SETTERS,
    ) -> ClaimRow:  # fmt: skip
        row = await self.find(claim)
        if not row.two_people_reject or row.state != "pending":
            return await self.decide(
                claim, "reject", actor, reason=reason, envy_not_due=envy_not_due
            )
        return self._keep_request(row, "reject", actor, reason, not_due=envy_not_due)

    async def request_reopening(
        self, claim: str, actor: str, *, reason: str, setters: PinSetters = NO_SETTERS
    ) -> ClaimRow:
        row = await self.find(claim)
        if row.state != "rejected":
            raise ActError("wrong_state", f"claim {claim} is not rejected: it is {row.state}")
        return self._keep_request(row, "reopen", actor, reason, not_due=False)

    def _keep_request(
        self, row: ClaimRow, act: Literal["reject", "reopen"], by: str, why: str, *, not_due: bool
    ) -> ClaimRow:
        self.acts.append((row.claim, f"request_{act}", by, why, None, not_due))
        request = ClaimRequestRow(entry=7, act=act, by=by, at=AT, reason=why, envy_not_due=not_due)
        self.put(msgspec.structs.replace(row, request=request))
        return self.claims[row.claim]

    async def confirm(
        self, claim: str, actor: str, entry: int, setters: PinSetters = NO_SETTERS
    ) -> ClaimRow:
        row = await self.find(claim)
        request = row.request
        if request is None or request.entry != entry:
            raise ActError("no_request", "the request was replaced")
        if request.by == actor:
            raise ActError("same_person", "you requested it: another person confirms it")
        self.put(msgspec.structs.replace(row, request=None))
        if request.act == "reject":
            return await self.decide(
                claim, "reject", actor, reason=request.reason, envy_not_due=request.envy_not_due
            )
        self.acts.append((claim, "reopen", actor, request.reason, None, False))
        self.put(msgspec.structs.replace(row, request=None, state="pending", decided_by=actor))
        return self.claims[claim]

    async def correct_slip(
        self, claim: str, actor: str, *, slip: str, replaces: str, reason: str
    ) -> ClaimRow:
        row = await self.find(claim)
        if row.slip != replaces:
            raise ActError("slip_changed", f"its slip number is now {row.slip}")
        self.acts.append((claim, "correct_slip", actor, reason, slip, False))
        self.put(
            msgspec.structs.replace(row, slip=slip, slip_corrected_by=actor, slip_corrected_at=AT)
        )
        return self.claims[claim]

    async def decide_envy(
        self,
        claim: str,
        act: EnvyAct,
        actor: str,
        *,
        reason: str | None = None,
        setters: PinSetters = NO_SETTERS,
    ) -> ClaimRow:
        row = await self.find(claim)
        if row.envy_state != "validated":
            raise ActError("wrong_state", f"its Envy Bonuses are {row.envy_state}")
        self.acts.append((claim, act, actor, reason, None, bool(setters.own)))
        state: ClaimState = "paid" if act == "pay_envy" else "rejected"
        row = msgspec.structs.replace(
            row, envy_state=state, envy_by=actor, envy_at=AT, envy_reason=reason,
            envy_not_due=state == "rejected", state=state if row.only_envy else row.state,
        )  # fmt: skip
        self.put(row)
        return row

    async def wins(self, search: WinSearch) -> WinPage:
        if search.since is not None and "T" not in search.since:
            raise ActError("bad_value", f"{search.since} is no moment")
        found = [
            row
            for row in sorted(self.claims.values(), key=lambda row: -int(row.order))
            if search.link in {None, row.link}
            and search.meter in {None, row.meter}
            and search.table in {None, row.table}
            and search.state in {None, row.state}
            and (search.since is None or row.at >= search.since)
            and (search.until is None or row.at < search.until)
            and (row.percent is not None or not search.meter_awards)
            and (search.before is None or int(row.order) < int(search.before))
            and (search.words or "").casefold() in _words_of(row)
        ]
        page = tuple(found[: search.limit])
        return WinPage(wins=page, next=page[-1].order if len(found) > search.limit else None)


def _check_another(first: str | None, actor: str, setters: PinSetters) -> None:
    """Refuse the second half of an act unless a known other person did the first."""
    if first == actor or first in setters.shared:
        raise ActError("same_person", "another person does the second half")


def _decided(row: ClaimRow) -> bool:
    win = row.state in _OVER or (row.state == "validated" and row.paid_from != "hand_pay")
    return win and row.envy_state in {None, *_OVER}


def _words_of(row: ClaimRow) -> str:
    parts = (
        row.claim, row.patron, row.hand_name, row.slip, row.reason, row.decided_by,
        row.validated_by, row.paid_by,
    )  # fmt: skip
    return " ".join(filter(None, parts)).casefold()


ASK: Final = AskRow(
    ask="tcp-main.TCP-03-42", link="tcp-main", link_name="Three Card Poker Jackpot",
    table="TCP-03", asset="104213", round="R41", what="void", reason="Misdeal",
    cards=(
        AskedCards(what="hand", position=3, before=("As", "Ks", "Qs"), after=(), taken_back=False,
                   reason=None),
    ),
    at=AT,
)  # fmt: skip
"""A void after cards were entered."""

ASK_RESULT: Final = msgspec.structs.replace(
    ASK, ask="tcp-main.TCP-04-7", table="TCP-04", asset="104214", round="R6", what="result",
    reason=None, at="2026-11-20T02:15:00.000Z",
    cards=(
        AskedCards(what="hand", position=2, before=("As", "Ks", "Qs"), after=("3h", "6s", "Jc"),
                   taken_back=True, reason="Typed wrong"),
    ),
)  # fmt: skip
"""A result with a hand that was entered differently before."""


@dataclass
class AsksInMemory(Asks):
    """In-memory corrections. A test may fill `rows`; `acts` has the acts that reached it."""

    bell: ChangeSignal
    rows: dict[str, AskRow] = field(default_factory=dict)
    acts: list[tuple[str, AskAct, str, str]] = field(default_factory=list)

    def put(self, row: AskRow) -> None:
        self.rows[row.ask] = row
        self.bell.ring()

    async def asks(self) -> Sequence[AskRow]:
        return list(self.rows.values())

    async def decide(self, ask: str, act: AskAct, actor: str, *, reason: str = "") -> AskRow:
        if ask not in self.rows:
            raise ActError("unknown_ask", f"the table no longer asks for {ask}")
        self.acts.append((ask, act, actor, reason))
        row = self.rows.pop(ask)
        self.bell.ring()
        return row


class LinksInMemory(Links):
    """In-memory links; `done` has the acts that reached it."""

    def __init__(self, floor: Floor, bell: ChangeSignal) -> None:
        self.done: list[tuple[str, ...]] = []
        self.links_by_id = {link.id: _standing(floor, link.id) for link in floor.link}
        self._meters = {id_: view.meters for id_, view in self.links_by_id.items()}
        self._acts: dict[str, list[ActRow]] = {link.id: [] for link in floor.link}
        self._bell = bell
        self._numbers = itertools.count(1)

    async def links(self) -> Sequence[LinkView]:
        return list(self.links_by_id.values())

    async def close(self, link: str, actor: str, reason: str) -> LinkView:
        if self._view_of(link).state == "closed":
            raise ActError("wrong_state", "the link is closed already")
        self._note(link, "close", actor, "link", reason)
        return self.put(link, state="closed", reason=reason, closed_by=actor, closed_at=AT)

    async def open(self, link: str, actor: str) -> LinkView:
        if self._view_of(link).state != "closed":
            raise ActError("wrong_state", "the link is open already")
        self._note(link, "open", actor, "link", "")
        return self.put(link, state="operable", reason="", closed_by=None, closed_at=None)

    async def approve(
        self, link: str, actor: str, digest: str, setters: PinSetters = NO_SETTERS
    ) -> LinkView:
        unapproved = self._view_of(link).unapproved
        if unapproved is None:
            raise ActError("no_change", "the floor file is approved already")
        if unapproved.barred:
            raise ActError("barred", unapproved.barred)
        if unapproved.digest != digest:
            raise ActError("stale", "the floor file is not what was shown: look again")
        self._note(link, "approve", actor, "link", ", ".join(unapproved.changed))
        return self.put(link, state="operable", reason="", unapproved=None)

    def put(self, link: str, **changed: object) -> LinkView:
        self.links_by_id[link] = msgspec.structs.replace(self.links_by_id[link], **changed)
        self._bell.ring()
        return self.links_by_id[link]

    def put_unapproved(self, link: str, row: UnapprovedRow) -> None:
        self.put(link, state="inoperable", reason="not as approved", unapproved=row)

    def put_meter(self, link: str, meter: str, **changed: object) -> None:
        meters = (
            msgspec.structs.replace(one, **changed) if one.meter == meter else one
            for one in self._view_of(link).meters
        )
        self.put(link, meters=tuple(meters))

    async def propose(
        self,
        link: str,
        actor: str,
        change: ParameterChange | Adjustment,
        setters: PinSetters = NO_SETTERS,
    ) -> ProposalRow:
        standing = self._view_of(link)
        meter = next((each for each in standing.meters if each.meter == change.meter), None)
        if meter is None:
            raise ActError("unknown_meter", f"the link has no meter {change.meter}")
        number = next(self._numbers)
        if isinstance(change, Adjustment):
            sign = "+" if change.amount > 0 else "\N{MINUS SIGN}"
            before, after = money(meter.amount), f"{sign}{money(abs(change.amount))}"
            parameter, amount, reason = None, change.amount, change.reason
        else:
            if standing.closed_at is None:
                raise ActError("not_closed", "a parameter is changed only while the link is closed")
            before, after = str(getattr(meter, change.parameter)), str(change.value)
            parameter, amount, reason = change.parameter, None, change.reason
            if before == after:
                raise ActError("no_change", f"it is {before} already")
        row = ProposalRow(
            proposal=f"P-{number}", link=link, meter=change.meter, parameter=parameter,
            kind="parameter" if parameter else "adjustment", before=before, after=after,
            amount=amount, reason=reason, by=actor, at=AT, state="open",
        )  # fmt: skip
        self._note(link, "propose", actor, row.proposal, f"{before} → {after}")
        self.put(link, proposals=(*standing.proposals, row))
        return row

    async def confirm(
        self, link: str, proposal: str, actor: str, setters: PinSetters = NO_SETTERS
    ) -> ProposalRow:
        row = self._proposal(link, proposal)
        _check_another(row.by, actor, setters)
        self._note(link, "parameter" if row.parameter else "adjust", actor, proposal, row.after)
        return self._decide(row, "confirmed", actor)

    async def withdraw(self, link: str, proposal: str, actor: str) -> ProposalRow:
        row = self._proposal(link, proposal)
        self._note(link, "withdraw", actor, proposal, "")
        return self._decide(row, "withdrawn", actor)

    async def acts(self, link: str, before: int | None, limit: int) -> Sequence[ActRow]:
        self._view_of(link)
        rows = reversed(self._acts[link])
        return [row for row in rows if before is None or row.entry < before][:limit]

    def reset(self) -> None:
        for link in self.links_by_id:
            self.put(
                link, state="operable", closed_by=None, closed_at=None, proposals=(),
                unapproved=None, wrong_parameters=False, meters=self._meters[link],
            )  # fmt: skip

    def _view_of(self, link: str) -> LinkView:
        if link not in self.links_by_id:
            raise ActError("unknown_link", f"there is no link {link}")
        return self.links_by_id[link]

    def _proposal(self, link: str, proposal: str) -> ProposalRow:
        for row in self._view_of(link).proposals:
            if row.proposal == proposal:
                return row
        raise ActError("unknown_proposal", f"there is no open proposal {proposal}")

    def _decide(self, row: ProposalRow, state: str, actor: str) -> ProposalRow:
        left = tuple(each for each in self._view_of(row.link).proposals if each is not row)
        self.put(row.link, proposals=left)
        if state == "confirmed" and row.amount is not None:
            (meter,) = (one for one in self._view_of(row.link).meters if one.meter == row.meter)
            self.put_meter(row.link, row.meter, amount=meter.amount + row.amount)
        changed = {"state": state, "decided_by": actor, "decided_at": AT}
        return msgspec.convert(msgspec.structs.asdict(row) | changed, ProposalRow)

    def note_of_table(
        self, link: str, what: str, table: str, details: str, claim: str = ""
    ) -> None:
        """Record an act of a table or on a claim, as the ledger lists it among the acts."""
        self._append(
            link, by=f"table:{table}", what=what, of=claim or "R1", hand_record=claim and "R1-3",
            table=table, told=details,
        )  # fmt: skip

    def _note(self, link: str, what: str, actor: str, of: str, details: str) -> None:
        self.done.append((what, link, actor, of))
        self._append(link, by=actor, what=what, of=of, table="", told=details)

    def _append(self, link: str, **fields: str) -> None:
        row = {"entry": len(self._acts[link]) + 1, "at": AT, **fields}
        self._acts[link].append(msgspec.convert(row, ActRow))


COUNTED = MeterAccounting(
    wagers=1_204, wagered=120_400, voided_wagers=3, voided=300, hits=1, wins=17, won=130_450,
    rejected=0, reopened=0, paid_by_system=22_000, paid_by_attendant=108_450, paid=130_450,
    overflow=0,
)  # fmt: skip


def _standing(floor: Floor, link_id: str) -> LinkView:
    link = next(each for each in floor.link if each.id == link_id)
    meters = tuple(
        MeterParameters(
            meter=meter.meter_id, name=meter.title, kind=meter.kind, wager=meter.wager,
            wagers=() if meter.kind == "five_card_hand_bonus" else (100, 500),
            paytable=meter.paytable,
            paytables=("A", "B") if meter.paytable else (),
            magic_card_every=None, lucky_every=None, seed=100_000, reseed=100_000,
            primary_bps=2_000, reserve_bps=500, amount=112_362, reserve=3_000, cycle=1, pending=0,
            limit=None, contribution_max=None, overflow=0, accounting=COUNTED, highest=150_000,
        )
        for meter in link.meter
    )  # fmt: skip
    return LinkView(
        link=link.id, name=link.name, state="operable", reason="", changeable=True, closed_by=None,
        closed_at=None, rounds_open=0, tables=4, tables_online=3,
        tables_offline=("TCP-04 (asset 104214)",), meters=meters, proposals=(),
        sealed_entry=12, seal="5ea1" * 16,
    )  # fmt: skip
