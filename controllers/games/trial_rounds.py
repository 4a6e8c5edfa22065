"""Rounds that try a game: bots deal and wager, `pitlink settle` pays, and the meters go on."""

import random
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from fractions import Fraction

import msgspec

from bonus.law.chapter_file import Chapter
from bonus.rounds import Line
from bonus.settling.settle_round import settle_line
from bonus.wagers import (
    BAD_BEAT_PARTS,
    MICROS_PER_CENT,
    bad_beat_item,
    community_item,
    envy_item,
    envy_share_item,
    jackpot_item,
)
from controllers.demo.dealer_bots import DealerBot
from controllers.demo.resettlement import RoundRecord
from controllers.games.trial_floor import TRIAL_TABLE
from controllers.table.device_events import DeviceAnswer, DeviceEvent, SettlePressed, name_of
from controllers.table.state import Layout
from meters.floor.floor_file import Floor


@dataclass(slots=True)
class WagerTally:
    """The wagers of one name so far, and what they got back, in cents.

    `by_players` counts the wagers by the number of wagers of this name in their round.
    """

    wagers: int = 0
    wagered_cents: int = 0
    back_cents: int = 0
    by_players: Counter[int] = field(default_factory=Counter)

    @property
    def returned(self) -> Fraction:
        """The part of the wagers that came back; 0 before the first wager."""
        return Fraction(self.back_cents, self.wagered_cents) if self.wagered_cents else Fraction(0)


@dataclass(frozen=True, slots=True)
class TriedRound:
    """A settled round: its cards and wagers as for `pitlink settle`, and its lines."""

    fields: Mapping[str, object]
    lines: Sequence[Line]


@dataclass(slots=True)
class _Balance:
    micros: int
    reserve_micros: int = 0


@dataclass(frozen=True, slots=True)
class Trial:
    """A table of a game without a floor. Its meters begin at their seeds.

    The bot `stacking` stacks the deck of each round, so its rounds are not in the `tallies`; `bot`
    stacks none.
    """

    layout: Layout
    bot: DealerBot
    stacking: DealerBot
    tallies: dict[str, WagerTally] = field(default_factory=dict)
    _balances: dict[str, _Balance] = field(default_factory=dict)

    @classmethod
    def of(cls, floor: Floor, seed: int) -> "Trial":
        found = floor.find_table(TRIAL_TABLE)
        if found is None:
            raise ValueError("the floor has no table for a trial")
        layout, rng = Layout.of(*found), random.Random(seed)  # noqa: S311  (a simulation)
        trial = cls(layout, DealerBot(layout, rng), DealerBot(layout, rng, stack_every=1))
        for kind, terms in trial.layout.terms.items():
            trial._balances[kind] = _Balance(terms.seed_cents * MICROS_PER_CENT)
        for wager in trial.layout.rules.placings:
            trial.tallies[wager] = WagerTally()
        return trial

    @property
    def meters_cents(self) -> Mapping[str, int]:
        return {kind: balance.micros // MICROS_PER_CENT for kind, balance in self._balances.items()}

    def play(self, *, stacked: bool = False) -> TriedRound:
        """Play a round. In a `stacked` one, there is a wager on a meter, and it wins a jackpot."""
        fed = self.layout.rules.meters.terms.keys()
        while True:
            record = _played(self.stacking if stacked else self.bot)
            if record is None:
                continue
            if stacked and all(fed.isdisjoint(wagers) for wagers in _wagers_of(record.fields)):
                continue
            return self._settled(record, counts=not stacked)

    def _settled(self, record: RoundRecord, *, counts: bool) -> TriedRound:
        boxes = list(_wagers_of(record.fields))
        sent: dict[str, dict[str, int]] = {}
        smaller = {kind: terms.smaller_wagers for kind, terms in record.terms.items()}
        for kind, terms in record.terms.items():
            wagered_cents = sum(
                cents for wagers in boxes for name, cents in wagers.items() if name in terms.wagers
            )
            balance = self._balances[kind]
            primary_bps, reserve_bps = terms.rates_bps(balance.micros)
            balance.micros += wagered_cents * primary_bps
            balance.reserve_micros += wagered_cents * reserve_bps
            sent[kind] = {"wager": terms.wager_cents, "amount": balance.micros // MICROS_PER_CENT}
            if terms.has_reserve:
                sent[kind]["reserve"] = balance.reserve_micros // MICROS_PER_CENT
        meters = {kind: held | {"smaller_wagers": smaller[kind]} for kind, held in sent.items()}
        fields = {**record.fields, **({"meters": meters} if sent else {})}
        settled = settle_line(msgspec.json.encode(fields), record.games)
        for kind, after in settled.meters.items():
            balance, before = self._balances[kind], sent[kind]
            balance.micros += (after.amount - before["amount"]) * MICROS_PER_CENT
            taken = before.get("reserve", 0) - (after.reserve or 0)
            balance.reserve_micros -= taken * MICROS_PER_CENT
        if counts:
            self._count(boxes, settled.lines)
        return TriedRound(fields, settled.lines)

    def _count(self, boxes: Sequence[Mapping[str, int]], lines: Sequence[Line]) -> None:
        placed = Counter(name for wagers in boxes for name in wagers)
        for wagers in boxes:
            for name, cents in wagers.items():
                tally = self.tallies[name]
                tally.wagers += 1
                tally.wagered_cents += cents
                tally.by_players[placed[name]] += 1
        owners = _owners(self.layout.rules.chapter)
        for line in lines:
            self.tallies[owners[line.item]].back_cents += line.paid + line.returned


def _played(bot: DealerBot) -> RoundRecord | None:
    """Let a bot play one round without a service; a round that it voids has no record."""
    play = bot.play_round()
    try:
        event = next(play)
        while True:
            event = play.send(_accepted(event))
    except StopIteration as end:
        played = end.value
    record: RoundRecord | None = played.record
    return record


def _accepted(event: DeviceEvent) -> DeviceAnswer:
    if isinstance(event, SettlePressed):
        return DeviceAnswer(event=name_of(event), ok=True, lines=())
    return DeviceAnswer(event=name_of(event), ok=True)


def _wagers_of(fields: Mapping[str, object]) -> Iterator[Mapping[str, int]]:
    positions = fields["positions"]
    for box in positions if isinstance(positions, list) else ():
        yield box["wagers"]


def _owners(game: Chapter) -> dict[str, str]:
    """Return, for each item of settlement lines, the wager that pays for it."""
    found = {wager: wager for wager in game.main_wagers}
    found |= {bonus.item: bonus.on for bonus in game.main_bonuses}
    for tables in game.wager:
        found |= {name: name for name in tables.names}
        found[envy_item(tables.names[0])] = tables.names[0]
        for meter in tables.fed:
            items = (jackpot_item(meter), community_item(meter), envy_share_item(meter))
            bad_beats = (bad_beat_item(meter, part) for part in BAD_BEAT_PARTS)
            found |= dict.fromkeys((*items, *bad_beats), tables.names[0])
    return found
