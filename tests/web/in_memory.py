"""In-memory claims, corrections and links: they keep rows and acts, and know no rules."""

import itertools
from collections.abc import Sequence
from datetime import date
from typing import Final, Literal

import msgspec

from bonus.display import money
from meters.acts.act_refusals import ActError
from meters.acts.act_rows import ActRow
from meters.acts.claim_types import (
    AskedCards,
    AskRow,
    ClaimRequestRow,
    ClaimRow,
    EnvyOwed,
    Wagered,
    WinPage,
    WinSearch,
)
from meters.acts.claims import Claims
from meters.acts.correction_decisions import Asks
from meters.acts.floor_history import FloorHistory
from meters.acts.link_view import (
    LinkDone,
    LinkView,
    MeterAccounting,
    MeterParameters,
    UnapprovedRow,
)
from meters.acts.links import Links
from meters.acts.meter_changes import Adjustment, ParameterChange, ProposalRow
from meters.acts.meter_history import (
    AddedBar,
    BreakEvenRow,
    FloorDay,
    HitRow,
    MeterHistory,
    MeterPicture,
    MeterSpark,
    ShiftRow,
)
from meters.acts.round_search import RoundQuery
from meters.acts.round_view import (
    RoundHand,
    RoundLine,
    RoundMeter,
    RoundPage,
    RoundRow,
    RoundView,
    RoundWin,
)
from meters.floor.floor_file import Floor, Link
from meters.ledger.link_state import Act, EnvyAct
from meters.ledger.table_corrections import AskAct
from meters.ledger.two_people import NO_SETTERS, PinSetters
from meters.reports.floor_reports import FloorReports, MadeReport, ReportDays, made_of
from meters.reports.report_document import ReportDocument, ReportPart, ReportSection, columns
from meters.web.streams import ChangeSignal

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


class ClaimsInMemory(Claims):
    """In-memory claims. A test may fill `claims`; `acts` has the acts that reached it."""

    def __init__(self, bell: ChangeSignal) -> None:
        self.bell = bell
        self.reset()

    def reset(self) -> None:
        self.claims = {"c1": CLAIM, "c2": SMALL}
        self.acts: list[tuple[str, str, str, str | None, str | None, bool]] = []

    def put(self, row: ClaimRow = CLAIM, **changed: object) -> ClaimRow:
        row = msgspec.structs.replace(row, **changed)
        self.claims[row.claim] = row
        self.bell.ring()
        return row

    async def waiting(self) -> Sequence[ClaimRow]:
        return [row for row in self.claims.values() if not _decided(row)]

    async def to_reopen(self) -> Sequence[ClaimRow]:
        rows = self.claims.values()
        return [row for row in rows if row.state == "rejected" and row.request is not None]

    async def hand(self, claim: str) -> Sequence[ClaimRow]:
        return [await self.find(claim)]

    async def find(self, claim: str) -> ClaimRow:
        if claim not in self.claims:
            raise ActError("unknown_claim", f"there is no claim {claim}")
        return self.claims[claim]

    async def decide(
        self, claim: str, act: Act, actor: str, *, reason: str | None = None,
        slip: str | None = None, envy_not_due: bool = False, envy_paid: bool = False,
        setters: PinSetters = NO_SETTERS, confirms: ClaimRequestRow | None = None,
    ) -> ClaimRow:  # fmt: skip
        row = await self.find(claim)
        if row.state != ("validated" if act == "pay" else "pending"):
            by = f"claim {claim} is already {row.state} by {row.decided_by}"
            raise ActError("wrong_state", by)
        self.acts.append((claim, act, actor, reason, slip, envy_not_due))
        acts: dict[str, dict[str, object]] = {
            "validate": {"state": "validated", "validated_by": actor, "validated_at": AT},
            "pay": {"state": "paid", "paid_by": actor, "paid_at": AT, "slip": slip},
            "reject": {"state": "rejected", "reason": reason, "envy_not_due": envy_not_due},
        }
        changed = acts[act]
        if row.envy_state is not None:
            state = "rejected" if envy_not_due else "paid" if envy_paid else "validated"
            changed |= {"envy_state": state, "envy_by": actor, "envy_at": AT}
        return self.put(row, request=None, decided_by=actor, decided_at=AT, **changed)

    async def reject(
        self, claim: str, actor: str, *, reason: str, envy_not_due: bool = False,
        setters: PinSetters = NO_SETTERS,
    ) -> ClaimRow:  # fmt: skip
        if not (await self.find(claim)).two_people_reject:
            return await self.decide(
                claim, "reject", actor, reason=reason, envy_not_due=envy_not_due
            )
        return self._keep_request(claim, "reject", actor, reason, not_due=envy_not_due)

    async def request_reopening(
        self, claim: str, actor: str, *, reason: str, setters: PinSetters = NO_SETTERS
    ) -> ClaimRow:
        return self._keep_request(claim, "reopen", actor, reason, not_due=False)

    def _keep_request(
        self, claim: str, act: Literal["reject", "reopen"], by: str, why: str, *, not_due: bool
    ) -> ClaimRow:
        self.acts.append((claim, f"request_{act}", by, why, None, not_due))
        request = ClaimRequestRow(entry=7, act=act, by=by, at=AT, reason=why, envy_not_due=not_due)
        return self.put(self.claims[claim], request=request)

    async def confirm(
        self, claim: str, actor: str, entry: int, setters: PinSetters = NO_SETTERS
    ) -> ClaimRow:
        row = await self.find(claim)
        assert row.request is not None
        asked = row.request
        if asked.act == "reject":
            return await self.decide(
                claim, "reject", actor, reason=asked.reason, envy_not_due=asked.envy_not_due
            )
        self.acts.append((claim, "reopen", actor, asked.reason, None, False))
        return self.put(row, request=None, state="pending", decided_by=actor)

    async def withdraw_request(
        self, claim: str, actor: str, entry: int, setters: PinSetters = NO_SETTERS
    ) -> ClaimRow:
        self.acts.append((claim, "withdraw_request", actor, None, None, False))
        return self.put(self.claims[claim], request=None)

    async def correct_slip(
        self, claim: str, actor: str, *, slip: str, replaces: str, reason: str
    ) -> ClaimRow:
        row = await self.find(claim)
        self.acts.append((claim, "correct_slip", actor, reason, slip, False))
        return self.put(row, slip=slip, slip_corrected_by=actor, slip_corrected_at=AT)

    async def decide_envy(
        self, claim: str, act: EnvyAct, actor: str, *, reason: str | None = None,
        setters: PinSetters = NO_SETTERS,
    ) -> ClaimRow:  # fmt: skip
        row = await self.find(claim)
        self.acts.append((claim, act, actor, reason, None, bool(setters.own)))
        state = "paid" if act == "pay_envy" else "rejected"
        return self.put(
            row, envy_state=state, envy_by=actor, envy_at=AT, envy_reason=reason,
            envy_not_due=state == "rejected", state=state if row.only_envy else row.state,
        )  # fmt: skip

    async def wins(self, search: WinSearch) -> WinPage:
        found = [
            row
            for row in sorted(self.claims.values(), key=lambda row: -int(row.order))
            if all(
                getattr(search, name) in {None, getattr(row, name)}
                for name in ("link", "meter", "table", "state")
            )
            and (search.since or "") <= row.at < (search.until or "~")
            and (row.percent is not None or not search.meter_awards)
            and (search.before is None or int(row.order) < int(search.before))
            and (search.words or "") in f"{row.reason}"
        ]
        page = tuple(found[: search.limit])
        return WinPage(wins=page, next=page[-1].order if len(found) > search.limit else None)


def _decided(row: ClaimRow) -> bool:
    win = row.state in _OVER or (row.state == "validated" and row.paid_from != "hand_pay")
    return win and row.envy_state in {None, *_OVER}


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

UNAPPROVED: Final = UnapprovedRow(
    digest="5" * 64, changed=("table TCP-03 added", "table TCP-01 positions: 7 → 6"),
    approved_by="Ada", approved_at=AT, barred=None, terms=("meter progressive: seed $1,000.00",),
    first_by="Ada", first_at=AT,
)  # fmt: skip


class AsksInMemory(Asks):
    """In-memory corrections. A test may fill `rows`; `acts` has the acts that reached it."""

    def __init__(self, bell: ChangeSignal) -> None:
        self.bell = bell
        self.reset()

    def reset(self) -> None:
        self.rows: dict[str, AskRow] = {}
        self.acts: list[tuple[str, AskAct, str, str]] = []

    def put(self, row: AskRow = ASK, **changed: object) -> AskRow:
        row = msgspec.structs.replace(row, **changed)
        self.rows[row.ask] = row
        self.bell.ring()
        return row

    async def asks(self) -> Sequence[AskRow]:
        return list(self.rows.values())

    async def decide(self, ask: str, act: AskAct, actor: str, *, reason: str = "") -> AskRow:
        if ask not in self.rows:
            raise ActError("unknown_ask", f"the table no longer has the correction request {ask}")
        self.acts.append((ask, act, actor, reason))
        self.bell.ring()
        return self.rows.pop(ask)


class LinksInMemory(Links):
    """In-memory links; `done` has the acts that reached it."""

    def __init__(self, floor: Floor, bell: ChangeSignal) -> None:
        self._floor = floor
        self._bell = bell
        self.reset()

    def reset(self) -> None:
        self.done: list[tuple[str, ...]] = []
        self._acts: dict[str, list[ActRow]] = {link.id: [] for link in self._floor.link}
        self._numbers = itertools.count(1)
        self.links_by_id = {link.id: _view(link) for link in self._floor.link}

    async def links(self) -> Sequence[LinkView]:
        return list(self.links_by_id.values())

    async def close(self, link: str, actor: str, reason: str) -> LinkView:
        self.note(link, "close", actor, "link", reason)
        return self.put(link, state="closed", reason=reason, closed_by=actor, closed_at=AT)

    async def open(self, link: str, actor: str) -> LinkView:
        self.note(link, "open", actor, "link", "")
        return self.put(link, state="operable", reason="", closed_by=None, closed_at=None)

    async def approve(
        self, link: str, actor: str, digest: str, setters: PinSetters = NO_SETTERS
    ) -> LinkView:
        row = self._view_of(link).unapproved
        if row is None or row.digest != digest:
            raise ActError("stale", "the floor file is not what was shown: look again")
        self.note(link, "approve", actor, "link", ", ".join(row.changed))
        return self.put(link, state="operable", reason="", unapproved=None)

    def put(self, link: str, **changed: object) -> LinkView:
        self.links_by_id[link] = msgspec.structs.replace(self.links_by_id[link], **changed)
        self._bell.ring()
        return self.links_by_id[link]

    def put_unapproved(self, link: str, row: UnapprovedRow = UNAPPROVED, **changed: object) -> None:
        row = msgspec.structs.replace(row, **changed)
        self.put(link, state="inoperable", reason="not as approved", unapproved=row)

    def put_meter(self, link: str, meter: str, **changed: object) -> None:
        meters = (
            msgspec.structs.replace(one, **changed) if one.meter == meter else one
            for one in self._view_of(link).meters
        )
        self.put(link, meters=tuple(meters))

    async def propose(
        self, link: str, actor: str, change: ParameterChange | Adjustment,
        setters: PinSetters = NO_SETTERS,
    ) -> ProposalRow:  # fmt: skip
        view = self._view_of(link)
        meter = next(each for each in view.meters if each.meter == change.meter)
        made: dict[str, object] = {"amount": None, "parameter": None}
        made |= msgspec.to_builtins(change)
        value = made.pop("value", None)
        if isinstance(change, Adjustment):
            sign = "+" if change.amount > 0 else "\N{MINUS SIGN}"
            before, after = money(meter.amount), f"{sign}{money(abs(change.amount))}"
        else:
            before, after = str(getattr(meter, change.parameter)), str(value)
        made |= {
            "proposal": f"P-{next(self._numbers)}", "link": link, "before": before, "after": after,
            "by": actor, "at": AT, "state": "open",
        }  # fmt: skip
        row = msgspec.convert(made, ProposalRow)
        self.note(link, "propose", actor, row.proposal, f"{row.before} → {row.after}")
        self.put(link, proposals=(*view.proposals, row))
        return row

    async def confirm(
        self, link: str, proposal: str, actor: str, setters: PinSetters = NO_SETTERS
    ) -> ProposalRow:
        row = self._take(link, proposal)
        self.note(link, "parameter" if row.parameter else "adjust", actor, proposal, row.after)
        if row.amount is not None:
            (meter,) = (one for one in self._view_of(link).meters if one.meter == row.meter)
            self.put_meter(link, row.meter, amount=meter.amount + row.amount)
        return msgspec.structs.replace(row, state="confirmed", decided_by=actor, decided_at=AT)

    async def withdraw(self, link: str, proposal: str, actor: str) -> ProposalRow:
        row = self._take(link, proposal)
        self.note(link, "withdraw", actor, proposal, "")
        return msgspec.structs.replace(row, state="withdrawn", decided_by=actor, decided_at=AT)

    async def acts(self, link: str, before: int | None, limit: int) -> Sequence[ActRow]:
        rows = reversed(self._acts[link])
        return [row for row in rows if before is None or row.entry < before][:limit]

    async def last_done(self, limit: int) -> Sequence[LinkDone]:
        return [
            LinkDone(
                link=view.link, link_name=view.name, sealed_entry=view.sealed_entry, sealed_at=AT,
                seal=view.seal, read_day=date(2026, 11, 18), read_at=AT,
                archived_day=date(2026, 11, 17),
                correction=next(
                    (act for act in reversed(self._acts[view.link]) if act.what == "result"), None
                ),
                acts=tuple(await self.acts(view.link, None, limit)),
            )
            for view in self.links_by_id.values()
        ]  # fmt: skip

    def _view_of(self, link: str) -> LinkView:
        if link not in self.links_by_id:
            raise ActError("unknown_link", f"there is no link {link}")
        return self.links_by_id[link]

    def _take(self, link: str, proposal: str) -> ProposalRow:
        rows = {row.proposal: row for row in self._view_of(link).proposals}
        if proposal not in rows:
            raise ActError("unknown_proposal", f"there is no open proposal {proposal}")
        row = rows.pop(proposal)
        self.put(link, proposals=tuple(rows.values()))
        return row

    def note(  # noqa: PLR0917
        self, link: str, what: str, by: str, of: str, details: str, table: str = "", hand: str = ""
    ) -> None:
        self._view_of(link)
        if not table:
            self.done.append((what, link, by, of))
        acts = self._acts[link]
        row = {"entry": len(acts) + 1, "at": AT, "by": by, "what": what, "of": of, "told": details}
        acts.append(msgspec.convert(row | {"table": table, "hand_record": hand}, ActRow))


ROUND: Final = RoundRow(
    link="tcp-main", link_name="Three Card Poker Jackpot", table="TCP-03", asset="104213",
    round="R9", entry=15, at=AT, ended_at="2026-11-20T02:15:09.000Z", state="settled", wagers=3,
    wagered=300, won=151_000, paid=0, rejected=0, wins=1, corrected=False,
)  # fmt: skip

_AT_S: Final = 1_795_140_847


def picture(begins_s: int, every_s: int, bars: int) -> MeterPicture:
    """Return a meter that rises by a cent for each bar, and is won in the middle."""
    middle_s = begins_s + every_s * bars // 2
    ends_s = begins_s + every_s * bars
    hit = HitRow(
        at=AT, at_s=middle_s, entry=17, claim="c1", table="TCP-03", round="R9", position=3,
        hand_name="Mini-royal of spades", percent=100, amount=151_000, before=151_000,
        after=100_000,
    )  # fmt: skip
    return MeterPicture(
        begins_s=begins_s, ends_s=ends_s, times_s=(begins_s, middle_s, middle_s, ends_s),
        amounts=(140_000, 151_000, 100_000, 112_362), hits=(hit,), hit_count=1, won=151_000,
        bars=tuple(
            AddedBar(begins_s=at, ends_s=at + every_s, added=100 * (1 + at // every_s % 7))
            for at in range(begins_s, ends_s, every_s)
        ),
        added=23_362,
    )  # fmt: skip


class HistoryInMemory(FloorHistory):
    """An in-memory past: one win, and one round at each table."""

    def __init__(self, floor: Floor) -> None:
        self._floor = floor
        self.reset()

    def reset(self) -> None:
        self.rows, self.view = [ROUND], VIEW
        self.asked: list[RoundQuery] = []
        self.unread = 0
        self.failing = False

    async def meter(
        self, link_id: str, meter_id: str, day: date | None, *, whole: bool = False
    ) -> MeterHistory:
        link = next((one for one in self._floor.link if one.id == link_id), None)
        meter = (
            next((one for one in link.meter if one.meter_id == meter_id), None) if link else None
        )
        if link is None or meter is None:
            raise ActError("unknown_meter", f"there is no meter {meter_id}")
        even = BreakEvenRow(
            game="three_card_poker", wager="progressive", wager_name="Progressive",
            amount=1_008_000, notes="Envy Bonuses are left out.",
        )  # fmt: skip
        last_day, month = picture(_AT_S, 3_600, 24), picture(_AT_S - 30 * 86_400, 86_400, 30)
        return MeterHistory(
            link=link.id, link_name=link.name, meter=meter_id, name=meter.title, wager=meter.wager,
            primary_bps=1_400, seed=100_000, reseed=100_000, day=day,
            closing=112_350 if day else None, hour=None if day else 15_960,
            last_day=msgspec.structs.replace(last_day, unread=self.unread), month=month,
            break_even=(even,),
        )  # fmt: skip

    async def sparks(self) -> Sequence[MeterSpark]:
        self._check()
        return [
            MeterSpark(
                link=link.id, meter=meter.meter_id, begins_s=_AT_S, ends_s=_AT_S + 86_400,
                times_s=(_AT_S, _AT_S + 86_400), amounts=(100_000, 112_362), hour=15_960,
                last_hit_at=AT, last_hit_percent=100, unread=0,
            )
            for link in self._floor.link
            for meter in link.meter
        ]  # fmt: skip

    def _check(self) -> None:
        if self.failing:
            raise ActError("archive_failed", "the archive cannot be read")

    async def floor_day(self, day: date | None) -> FloorDay:
        self._check()
        shift = ShiftRow(begins=AT, ends=AT, wins=3, won=151_000)
        return FloorDay(
            day=day or date(2026, 11, 19), begins_s=_AT_S, wagers_s=600 if day else 60,
            wagers=(*range(60),),
            wagers_in_all=1_770, validated=3, late=1, wait_s=74, shifts=(shift,) * 3,
            paid=7_141_920, unread=0, missing=(),
        )  # fmt: skip

    async def rounds(self, query: RoundQuery) -> RoundPage:
        self.asked.append(query)
        rows = [row for row in self.rows if query.table in {None, row.table}]
        if not rows:
            raise ActError("unknown_round", f"the ledger here has no round of {query.table}")
        return RoundPage(rounds=tuple(rows), latest_first=True, next=None, day=query.day)

    async def round(self, link: str, entry: int) -> RoundView:
        row = next((one for one in self.rows if entry in {one.entry, *self.view.entries}), None)
        if row is None:
            raise ActError("unknown_round", f"the ledger here has no round with entry {entry}")
        return msgspec.structs.replace(self.view, row=row)

    def last_round(self, link: str, table: str) -> tuple[int, str]:
        found = [row for row in self.rows if (row.link, row.table) == (link, table)]
        return (found[-1].entry, found[-1].round) if found else (0, "")


VIEW: Final = RoundView(
    row=ROUND, table_at="2026-11-20T02:14:06.900Z", ended_table_at="2026-11-20T02:15:08.700Z",
    hands=(
        RoundHand(position=3, patron="p3", wagers={"progressive": 100},
                  cards=("As", "Ks", "Qs"), folded=False, no_win=False),
        RoundHand(position=5, patron=None, wagers={"progressive": 100}, cards=(), folded=True,
                  no_win=False),
    ),
    dealer=("2c", "3d", "4h"), community=(), draw=None, void_reason=None,
    lines=(
        RoundLine(position=3, item="progressive", item_name="Progressive Payout Wager",
                  outcome="paid", hand="mini_royal_spades", hand_name="Mini-royal of spades",
                  wagered=100, won=151_000, state="pending", by=None, slip=None, returned=0,
                  percent=100, paid_from="hand_pay", rule="649a.12(e)(1)", envy_of=None, on=None),
        RoundLine(position=5, item="progressive", item_name="Progressive Payout Wager",
                  outcome="collected", hand=None, hand_name="", wagered=100, won=0,
                  state=None, by=None, slip=None, returned=0, percent=None, paid_from=None,
                  rule="649a.12(e)", envy_of=None, on=None),
    ),
    wins=(
        RoundWin(claim="c1", position=3, item="progressive", item_name="Progressive Payout Wager",
                 amount=151_000, state="pending"),
    ),
    meters=(
        RoundMeter(meter="progressive", name="Progressive", before=150_972, added=28,
                   at_result=151_000, after=100_000),
    ),
    acts=(), entries=(15, 17),
)  # fmt: skip


COUNTED: Final = MeterAccounting(**dict.fromkeys(MeterAccounting.__struct_fields__, 1_204))


def _view(link: Link) -> LinkView:
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


def long_report(rows: int) -> MadeReport:
    """Return the report of an open day, with a list of this many rows and a sum."""
    table = [(f"TCP-{number:02}", "1", "$1.00") for number in range(rows)]
    listed = ReportSection(
        "By table", columns("Table 1 | >Wagers 1 | >Wagered 1"), [*table, ("All", "9", "$9.00")], 1
    )
    facts = [("Gaming day", "Thursday, November 19, 2026"), ("Made", "2026-11-19 21:14:07 EST")]
    part = ReportPart("tcp-main", "Three Card Poker Jackpot", [("Link", "tcp-main")], [listed])
    return made_of(ReportDocument("Gaming day", "Keystone", facts, [part], "SO FAR"), "day\n")


class ReportsInMemory(FloorReports):
    """In-memory reports of two gaming days, which are all the same."""

    def __init__(self) -> None:
        """Use no floor."""

    async def days(self) -> ReportDays:
        return ReportDays(date(2026, 11, 18), date(2026, 11, 19))

    async def report(self, name: str, days: str, within_s: float) -> MadeReport:
        del name, days, within_s
        return long_report(3)
