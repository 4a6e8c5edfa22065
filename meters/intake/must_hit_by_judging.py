"""Must-hit-by meters: which of a batch's wagers take them to their hidden values."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache

import msgspec

from bonus.wagers import MICROS_PER_CENT
from meters.floor.floor_file import Meter
from meters.intake.table_catalog import CatalogTable
from meters.intake.wager_judging import AddedWagers
from meters.ledger.claim_records import ClaimRecord, must_hit_by_record
from meters.ledger.hidden_values import feeding_wagers, hit_by
from meters.ledger.money_terms import TermsText, terms_with_pool
from meters.ledger.script_steps import ASKS, DueStep, HiddenState, HiddenStep, HitStep
from meters.store.hidden_value_seal import DrawnValue
from meters.store.link_store import LinkStore
from meters.wire.messages import (
    ClaimOpened,
    HiddenValueDrawn,
    OpenedValue,
    WagerCorrection,
    WageredPosition,
    Wagers,
)


@dataclass(slots=True)
class _Cycle:
    """A cycle of a meter as it is after the events that were judged so far."""

    terms: TermsText
    micros: int
    reserve_micros: int
    number: int
    sealed: str
    value: OpenedValue


@dataclass(frozen=True, slots=True)
class Fed:
    """What an event does to must-hit-by meters: the steps for the script, and the wins.

    `drawn` are the records of the new hidden values, one for each win.
    """

    steps: tuple[HiddenStep, ...] = ()
    won: tuple[ClaimRecord, ...] = ()
    opened: tuple[ClaimOpened, ...] = ()
    drawn: tuple[HiddenValueDrawn, ...] = ()


@dataclass(frozen=True, slots=True)
class _Feed:
    """What an event does to one meter, whose amounts are those before the event."""

    meter: str
    micros: int
    reserve_micros: int
    sealed: str
    wins: "Sequence[_Win]" = ()

    def step(self, hits: Iterable[HitStep] = ()) -> HiddenStep:
        return HiddenStep(self.meter, self.micros, self.reserve_micros, self.sealed, tuple(hits))


@dataclass(frozen=True, slots=True)
class _Win:
    """A win before the count of the event's wins is known."""

    meter: str
    wager: str
    position: int
    cents: int
    micros: int
    from_reserve_micros: int
    drawn: DrawnValue


@dataclass
class MustHitByJudge:
    """Decides which wagers win a link's must-hit-by meters.

    Redis must not know the hidden values. So the judge works out what each event does to the
    meters, if the script accepts all events before it, and the script compares the meters' amounts.

    A call with a win shows the hidden value to everybody who sees the commands of Redis, even if
    the script refuses the event. So the judge first asks if the script would accept the event: the
    answer is then that the meters have other amounts. Only after this answer does it send the win,
    and not behind other events that feed the meter.

    A restore sets `given`: the hidden values in the replies that the tables have. Then an event
    wins exactly what its reply says; before that is possible, it is held back.
    """

    store: LinkStore
    given: Callable[[str], Sequence[HiddenValueDrawn] | None] | None = None
    _cycles: dict[str, _Cycle] = field(default_factory=dict)
    _fed: set[str] = field(default_factory=set)

    @property
    def is_needed(self) -> bool:
        return any(meter.must_hit_by for meter in self.store.link.meter)

    def forget(self) -> None:
        self._cycles.clear()

    async def begin(self, every: Iterable[AddedWagers | None]) -> None:
        """Read the meters that the events of a batch feed, as far as they are not known.

        Raises:
            HiddenValueError: no secret of this service opens a hidden value.
            RedisError: Redis failed.
        """
        self._fed.clear()
        fed = {meter for added in every if added for meter in added.meters}
        known = {meter.meter_id: meter for meter in self.store.link.meter if meter.must_hit_by}
        if unread := sorted((fed & known.keys()) - self._cycles.keys()):
            for state in await self.store.hidden_states(unread):
                self._cycles[state.meter] = self._cycle(_terms_of(known[state.meter]), state)

    def _cycle(self, terms: TermsText, state: HiddenState) -> _Cycle:
        value = self.store.hidden_values.read(state.meter, state.cycle, state.sealed)
        return _Cycle(
            terms, state.meter_micros, state.reserve_micros, state.cycle, state.sealed, value
        )

    def feed(
        self,
        known: CatalogTable,
        event: Wagers | WagerCorrection,
        added: AddedWagers,
        *,
        asked: bool,
    ) -> Fed:
        """Work out what an event's wagers do, and assume that the script accepts it.

        With `asked`, the script has said that it would accept the event.
        """
        given = self.given(known.table.id) if self.given else None
        if given is not None and not self._is_possible(event, added, given):
            return self._asking(added)
        # In a restore, nothing else stops an event.
        certain = (asked or self.given is not None) and self._fed.isdisjoint(added.meters)
        if given is None and self._would_win(added) and not certain:
            return self._asking(added)
        self._fed.update(added.meters)
        feeds: list[_Feed] = []
        for one in added.contributions:
            if (cycle := self._cycles.get(one.meter)) is None:
                continue
            before = _Feed(one.meter, cycle.micros, cycle.reserve_micros, cycle.sealed)
            if cycle.micros + one.meter_micros < cycle.value.micros:
                cycle.micros += one.meter_micros
                feeds.append(before)
            else:
                wins = self._wins(one.meter, cycle, _fed_by(event), given or ())
                feeds.append(replace(before, wins=wins))
        if not any(each.wins for each in feeds):
            return Fed(tuple(each.step() for each in feeds))
        return self._won(known, event, feeds)

    def _asking(self, added: AddedWagers) -> Fed:
        asks = (one for one in added.meters if one in self._cycles)
        return Fed(tuple(HiddenStep(meter, ASKS, ASKS, "") for meter in asks))

    def _is_possible(
        self, event: Wagers | WagerCorrection, added: AddedWagers, given: Sequence[HiddenValueDrawn]
    ) -> bool:
        """Check whether an event would now win what its reply says, and nothing else."""
        for meter in added.meters:
            if (cycle := self._cycles.get(meter)) is None:
                continue
            own = [one for one in given if one.meter == meter]
            micros, reserve_micros, value = cycle.micros, cycle.reserve_micros, cycle.value
            wagers = feeding_wagers(cycle.terms, _fed_by(event))
            for drawn in own:
                hit = hit_by(cycle.terms, wagers, value.micros, micros, reserve_micros)
                if hit is None or drawn.opened != value:
                    return False
                wagers, micros = wagers[hit.place + 1 :], hit.start_micros
                reserve_micros -= hit.from_reserve_micros
                value = self.store.hidden_values.known(drawn).value
                if micros >= value.micros:
                    return False
            if hit_by(cycle.terms, wagers, value.micros, micros, reserve_micros):
                return False
        return True

    def _would_win(self, added: AddedWagers) -> bool:
        return any(
            cycle.micros + one.meter_micros >= cycle.value.micros
            for one in added.contributions
            if (cycle := self._cycles.get(one.meter))
        )

    def _wins(
        self,
        meter: str,
        cycle: _Cycle,
        positions: Sequence[WageredPosition],
        given: Sequence[HiddenValueDrawn],
    ) -> list[_Win]:
        terms, wins = cycle.terms, list[_Win]()
        before = iter([one for one in given if one.meter == meter])
        wagers = feeding_wagers(terms, positions)
        while hit := hit_by(terms, wagers, cycle.value.micros, cycle.micros, cycle.reserve_micros):
            winner, wagers = wagers[hit.place], wagers[hit.place + 1 :]
            record = next(before, None)
            values, number = self.store.hidden_values, cycle.number + 1
            drawn = (
                values.known(record)
                if record
                else values.draw(
                    meter,
                    number,
                    start_micros=hit.start_micros,
                    maximum_cents=terms.maximum_cents,
                    distribution=terms.distribution,
                    opened=cycle.value,
                )
            )
            wins.append(
                _Win(
                    meter, winner.wager, winner.position, hit.cents, hit.micros,
                    hit.from_reserve_micros, drawn,
                )
            )  # fmt: skip
            cycle.micros = hit.start_micros
            cycle.reserve_micros -= hit.from_reserve_micros
            cycle.number += 1
            cycle.value, cycle.sealed = drawn.value, drawn.record.sealed
        cycle.micros += sum(one.micros for one in wagers)
        return wins

    def _won(
        self, known: CatalogTable, event: Wagers | WagerCorrection, feeds: Sequence[_Feed]
    ) -> Fed:
        every = [win for each in feeds for win in each.wins]
        records = [
            must_hit_by_record(
                event, win.position, win.wager,
                meter=win.meter, rule=self._cycles[win.meter].terms.rule,
                link=known.address.link, table=known.table.id, asset=known.table.asset,
                turn=turn, turns=len(every),
            )
            for turn, win in enumerate(every, start=1)
        ]  # fmt: skip
        hits = iter([self._hit(win, record) for win, record in zip(every, records, strict=True)])
        return Fed(
            steps=tuple(each.step(next(hits) for _ in each.wins) for each in feeds),
            won=tuple(records),
            opened=tuple(
                ClaimOpened(claim=one.claim, position=one.position, item=one.item, amount=win.cents)
                for win, one in zip(every, records, strict=True)
            ),
            drawn=tuple(win.drawn.record for win in every),
        )

    def _hit(self, win: _Win, record: ClaimRecord) -> HitStep:
        due = DueStep(
            take=1,
            fixed_cents=win.cents,
            meter=win.meter,
            claim_key=0,
            claim=record.claim,
            record=msgspec.json.encode(record).decode(),
        )
        reseed_micros = self._cycles[win.meter].terms.reseed_cents * MICROS_PER_CENT
        return HitStep(
            due, win.micros, reseed_micros, win.from_reserve_micros, win.drawn.record.sealed
        )

    def note(self, states: Iterable[HiddenState]) -> None:
        """Note the meters as the script left them."""
        for state in states:
            cycle = self._cycles.get(state.meter)
            if cycle is None or (cycle.number, cycle.sealed) != (state.cycle, state.sealed):
                self._cycles.pop(state.meter, None)
                continue
            cycle.micros, cycle.reserve_micros = state.meter_micros, state.reserve_micros


def _fed_by(event: Wagers | WagerCorrection) -> Sequence[WageredPosition]:
    if isinstance(event, Wagers):
        return event.positions
    return [WageredPosition(position=event.position, wagers={event.wager: event.amount})]


@lru_cache(maxsize=256)
def _terms_of(meter: Meter) -> TermsText:
    return terms_with_pool(meter, meter.terms.pool)


def placed_hits(steps: Iterable[HiddenStep], places: Mapping[str, int]) -> tuple[HiddenStep, ...]:
    """Return steps with the places of their claims' keys in the script's KEYS."""
    replace = msgspec.structs.replace
    return tuple(
        replace(
            step,
            hits=tuple(
                replace(hit, due=replace(hit.due, claim_key=places[hit.due.claim]))
                for hit in step.hits
            ),
        )
        for step in steps
    )
