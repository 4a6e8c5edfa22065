"""Second set of books: what every account must hold, in fractions of a cent.

It is written from the readings, for clarity and not for speed, and shares no code with the service.
It states how an event must be answered, what it moves, and what a floorperson's decision moves. It
is the only check that follows a link from event to event, with copies, refusals, voids, limits and
fractions of a cent. `tests.naive` and `tests.games.naive` settle who wins what.
"""

import json
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from fractions import Fraction
from functools import partial
from math import floor
from typing import Any

from tests.model.second_games import SecondGame, SecondMeter
from tests.naive.shapes import Box, Draw, Round


@dataclass(frozen=True)
class Verdict:
    status: str
    code: str = ""
    expected: int = 0
    reply: bytes = b""


@dataclass
class SecondTable:
    """`placed` has, for each meter that a wager of the open round fed, its cycle and the cents.

    Its third value says whether the meter was so high that its other rates were in force.
    `hidden` are the must-hit-by meters of the table. `passed` has what went on from a full meter to
    another one, and the cycle of that one: for the wagers at lock-out, and for each wager that was
    added later (`late`).
    """

    game: SecondGame
    positions: int
    meters: Mapping[str, str]
    hidden: tuple[str, ...] = ()
    last: int = 0
    heard: dict[int, tuple[bytes, bytes]] = field(default_factory=dict)
    round: str | None = None
    over: str | None = None
    bets: dict[int, dict[str, Any]] = field(default_factory=dict)
    placed: dict[tuple[int, str, str], tuple[int, int, bool]] = field(default_factory=dict)
    passed: dict[tuple[str, str], tuple[Fraction, int]] = field(default_factory=dict)
    late: set[tuple[int, str]] = field(default_factory=set)
    draw: Draw | None = None
    asks: str = ""
    decided: str = ""
    known: list[dict[str, Any]] = field(default_factory=list)

    def came(self, position: int, wager: str) -> str:
        """Return with which wagers a wager came."""
        return f"{position} {wager}" if (position, wager) in self.late else ""

    def fed(self, wager: str) -> tuple[str, ...] | None:
        """Return the meters that a wager feeds, or None if the table does not offer the wager."""
        kinds = self.game.fed.get(wager)
        if kinds is None or not self.meters.keys() >= set(kinds):
            return None
        return tuple(self.meters[kind] for kind in kinds)

    @property
    def offered(self) -> list[str]:
        return [wager for wager in self.game.fed if self.fed(wager)]


@dataclass(frozen=True)
class SecondRequest:
    """A request to reject a win or to reopen it, until another person confirms it or it lapses."""

    act: str
    by: str
    entry: int
    envy_too: bool = False


@dataclass(frozen=True)
class SecondRejection:
    """The amount that a rejection moved to the meter and its overflow."""

    entry: int
    cents: Fraction
    cycle: int
    passed: Fraction = Fraction(0)
    passed_cycle: int = 0


@dataclass
class SecondClaim:
    meter: str
    cents: int
    after_cents: int
    percent: bool
    hand_pay: bool
    table: str
    hidden: bool = False
    holds: bool = True
    state: str = "pending"
    validated_by: str = ""
    slip: str = ""
    request: SecondRequest | None = None
    rejection: SecondRejection | None = None
    of_house: Fraction = Fraction(0)


@dataclass
class SecondEnvy:
    """Envy Bonuses that are owed or were owed, in cents by meter."""

    cents: dict[str, int] = field(default_factory=dict)
    state: str = "pending"
    alone: bool = False


@dataclass(frozen=True)
class SecondPromotion:
    """A promotion that starts every day, and ends before midnight, or at ``24:00``.

    It adds `cents` at each start or, if `bps` is not 0, this part of each wager.
    """

    meter: str
    cents: int
    begins: str
    ends: str
    bps: int = 0


@dataclass
class _Count:
    """The count of wagers for a promotion: the wagers before it, and what was added."""

    day: str
    before: int
    added: int = 0
    ended: bool = False
    at: datetime | None = None


class SecondBooks:
    """The books of one link. `hidden` returns the hidden value of a meter's cycle, in micros.

    Odds payouts below `validate_from_cents` need no floorperson, and a win above
    `two_people_above_cents` takes two people to reject. `replies_kept` is a number for each table.
    """

    def __init__(
        self,
        *,
        link: str,
        meters: dict[str, SecondMeter],
        tables: dict[str, SecondTable],
        validate_from_cents: int,
        two_people_above_cents: int,
        replies_kept: int,
        promotions: Mapping[str, SecondPromotion] | None = None,
    ) -> None:
        self.link = link
        self.promotions = promotions or {}
        self.promoted: dict[str, str] = {}
        self._counts: dict[str, _Count] = {}
        self.meters = meters
        self.tables = tables
        self.validate_from_cents = validate_from_cents
        self.two_people_above_cents = two_people_above_cents
        self._replies_kept = replies_kept
        self.accounts: defaultdict[str, Fraction] = defaultdict(Fraction)
        self.tallies: defaultdict[str, int] = defaultdict(int)
        self.claims: dict[str, SecondClaim] = {}
        self.envy: dict[str, SecondEnvy] = {}
        self.cycles = dict.fromkeys(meters, 1)
        self.closed = False
        self.all_hands = False
        self.slips: dict[str, str] = {}
        self.day_closed_at = 0
        self.hidden: Callable[[str, int], int] = lambda meter, cycle: 0
        self.entries = len(meters) + sum(bool(one.hit_by) for one in meters.values())
        for meter, one in meters.items():
            self.move("house", f"meter:{meter}", Fraction(one.law.seed * one.wager_cents))

    def move(self, source: str, target: str, cents: Fraction) -> None:
        assert cents >= 0
        self.accounts[source] -= cents
        self.accounts[target] += cents

    def held(self, meter: str) -> Fraction:
        return self.accounts[f"meter:{meter}"]

    def fill(self, source: str, meter: str, cents: Fraction) -> Fraction:
        """Move cents to a meter, and to its overflow above its limit; return the overflow part.

        The overflow of some meters goes on to another meter.
        """
        limit = self.meters[meter].limit_cents
        over = Fraction(0)
        if limit is not None:
            over = min(cents, max(Fraction(0), self.held(meter) + cents - limit))
            self.tallies[f"overflow_micros:{meter}"] += int(over * 10_000)
        self.move(source, f"meter:{meter}", cents - over)
        self.move(source, f"overflow:{meter}", over)
        if there := self.meters[meter].overflow_to:
            self.fill(f"overflow:{meter}", there, over)
        return over

    def level(self, meter: str) -> None:
        """Let the overflow fill a meter up to its limit: together they are one amount."""
        over, limit = self.accounts[f"overflow:{meter}"], self.meters[meter].limit_cents
        room = over if limit is None else max(Fraction(0), limit - self.held(meter))
        self.move(f"overflow:{meter}", f"meter:{meter}", min(over, room))

    def give_back(self, meter: str, target: str, cents: Fraction, least: int = 0) -> Fraction:
        """Take cents off a meter and its overflow, and return how many they had above `least`."""
        over, spare = self.accounts[f"overflow:{meter}"], max(Fraction(0), self.held(meter) - least)
        given = min(cents, over + spare)
        self.move(f"meter:{meter}", target, given)
        self.level(meter)
        return given

    def micros(self) -> dict[str, Fraction]:
        return {name: cents * 10_000 for name, cents in self.accounts.items() if cents}

    def waiting(self) -> list[str]:
        return [
            claim
            for claim, one in self.claims.items()
            if one.state == "pending" or (one.state == "validated" and one.hand_pay)
        ]

    def waiting_envy(self) -> list[str]:
        """Return the claims whose Envy Bonuses the table may pay and has not paid yet."""
        return [claim for claim, one in self.envy.items() if one.state == "validated"]

    def owe(self, claim: str, meter: str, cents: int, *, alone: bool) -> None:
        envy = self.envy.setdefault(claim, SecondEnvy(alone=alone))
        envy.cents[meter] = envy.cents.get(meter, 0) + cents
        envy.state = "validated" if alone else "pending"
        self.move("house", f"envy:{claim}", Fraction(cents))
        self.tallies[f"envy_owed_cents:{meter}"] += cents

    def settle_envy(self, claim: str, act: str) -> str:
        """Return the outcome, or the code of the refusal."""
        envy = self.envy.get(claim)
        if envy is None or envy.state != "validated":
            known = envy is not None or claim in self.claims
            return "wrong_state" if known else "unknown_claim"
        self._end_envy(claim, paid=act == "pay_envy")
        self.entries += 1
        return envy.state

    def _end_envy(self, claim: str, *, paid: bool) -> None:
        envy = self.envy[claim]
        for meter, cents in envy.cents.items():
            self.move(f"envy:{claim}", "paid" if paid else "house", Fraction(cents))
            self.tallies[f"{'table_paid' if paid else 'envy_taken_back'}_cents:{meter}"] += cents
        envy.state = "paid" if paid else "rejected"

    def decide_ask(self, table_id: str, *, confirmed: bool) -> None:
        self.tables[table_id].decided = "confirmed" if confirmed else "refused"
        self.entries += 1

    def judge(self, table_id: str, payload: bytes) -> Verdict:
        table, event = self.tables[table_id], json.loads(payload)
        seq = event["seq"]
        if seq <= table.last - self._replies_kept:
            return Verdict("refused", "seq_passed")
        if seq <= table.last:
            first, reply = table.heard[seq]
            return Verdict("again", reply=reply) if first == payload else Verdict(
                "refused", "seq_reused"
            )  # fmt: skip
        if seq > table.last + 1:
            return Verdict("out_of_order", expected=table.last + 1)
        for code in self._faults(table_id, event):
            return Verdict("refused", code)
        return Verdict("accepted")

    def _faults(self, table_id: str, event: dict[str, Any]) -> Iterator[str]:
        table = self.tables[table_id]
        if event["type"] == "wagers":
            yield from self._wager_faults(table, event)
            if table.round is not None:
                yield "after_lockout" if table.round == event["round"] else "round_open"
            elif self.closed and table.over != event["round"]:
                yield "link_closed"
            elif table.over != event["round"] and self.holds(table_id):
                yield "held"
        elif table.round != event["round"]:
            yield "round_over" if table.over == event["round"] else "unknown_round"
        elif event["type"] == "correct_wager":
            yield from self._correction_faults(table, event)
        elif event["type"] == "result":
            if self.all_hands and any(box.get("no_win") for box in event["positions"]):
                yield "no_win_not_allowed"
            yield from _result_faults(table, event)
        if table.over == event["round"]:
            yield "round_over"
        if event["type"] != "wagers" and (asked := _correction(table, event)):
            if asked != table.asks or not table.decided:
                yield "unconfirmed"
            elif table.decided == "refused":
                yield "correction_refused"

    def _correction_faults(self, table: SecondTable, event: dict[str, Any]) -> Iterator[str]:
        if table.known:
            yield "cards_entered"
        lit = event["wager"] in table.bets.get(event["position"], {}).get("wagers", {})
        if lit != (event["action"] == "take_back"):
            yield "no_wager" if event["action"] == "take_back" else "wager_twice"
        if self.closed and event["action"] == "add":
            yield "link_closed"

    def holds(self, table_id: str) -> bool:
        """Return whether an unpaid hand pay holds the table: its cards stay (649a.11(c)(5)(iv))."""
        return any(
            claim.hand_pay and claim.holds and claim.state in {"pending", "validated"}
            for claim in self.claims.values()
            if claim.table == table_id
        )

    def _wager_faults(self, table: SecondTable, event: dict[str, Any]) -> Iterator[str]:
        seen: set[int] = set()
        for bet in event["positions"]:
            if bet["position"] > table.positions:
                yield "unknown_position"
            if bet["position"] in seen:
                yield "position_twice"
            seen.add(bet["position"])
            for wager, cents in bet["wagers"].items():
                fed = table.fed(wager)
                if fed is None:
                    yield "unknown_meter"
                elif cents not in self._amounts(fed[0]):
                    yield "wrong_amount"

    def _amounts(self, meter: str) -> tuple[int, ...]:
        return (self.meters[meter].wager_cents, *self.meters[meter].smaller_cents)

    def note(self, table_id: str, payload: bytes, reply: bytes) -> None:
        """Record an event that used up its seq, and its first answer."""
        table = self.tables[table_id]
        event, code = json.loads(payload), json.loads(reply).get("error", {}).get("code")
        table.last = event["seq"]
        table.heard[table.last] = (payload, reply)
        if code == "unconfirmed" and (asked := _correction(table, event)) != table.asks:
            table.asks, table.decided = asked, ""
            if event["type"] != "correct_wager":
                table.known += [one for one in _entered(table, event) if one not in table.known]
        elif code == "correction_refused" or (
            event["type"] == "correct_wager"
            and code not in {None, "unconfirmed"}
            and _correction(table, event) == table.asks
        ):
            table.asks, table.decided = "", ""

    def lay(self, table_id: str, event: dict[str, Any], draw: Draw | None) -> list[dict[str, Any]]:
        """Book the wagers of a round; return the wins of must-hit-by meters among them."""
        table = self.tables[table_id]
        table.round, table.draw, table.placed = event["round"], draw, {}
        table.passed, table.late = {}, set()
        table.bets = {bet["position"]: bet for bet in event["positions"]}
        for position, bet in table.bets.items():
            for wager, cents in bet["wagers"].items():
                self._place(table, position, wager, cents)
        won = self._feed(table_id, event, [*table.placed])
        self.entries += 1
        return won

    def _place(self, table: SecondTable, position: int, wager: str, cents: int) -> None:
        fed = table.fed(wager)
        assert fed is not None
        hidden = (meter for meter in table.hidden if wager in self.meters[meter].hit_by)
        for meter in (*fed, *hidden):
            table.placed[position, wager, meter] = self.cycles[meter], cents, self._is_high(meter)

    def _is_high(self, meter: str) -> bool:
        at = self.meters[meter].law.above * self.meters[meter].wager_cents
        return at > 0 and self.held(meter) >= at

    def _shares(self, meter: str, cents: int, *, high: bool) -> tuple[Fraction, Fraction]:
        """Return what wagers bring to a meter and to its reserve."""
        law = self.meters[meter].law
        rates = (law.primary_above, law.reserve_above) if high else (law.primary, law.reserve)
        return Fraction(cents * rates[0], 100), Fraction(cents * rates[1], 100)

    def _feed(
        self, table_id: str, event: dict[str, Any], placed: list[tuple[int, str, str]]
    ) -> list[dict[str, Any]]:
        """Let wagers feed their meters; return the wins of must-hit-by meters.

        They feed such a meter one by one, the highest position first, and the wagers of a position
        in the order of the floor file.
        """
        table, won = self.tables[table_id], list[dict[str, Any]]()
        fed = dict.fromkeys(meter for *_, meter in placed)
        for meter in sorted(fed, key=lambda one: self.meters[one].overflow_to):
            own = [(position, wager) for position, wager, of in placed if of == meter]
            every = {one: table.placed[*one, meter][1] for one in own}
            self.tallies[f"wagers:{meter}"] += len(own)
            self.tallies[f"wagered_cents:{meter}"] += sum(every.values())
            order = self.meters[meter].hit_by
            if not order:
                high = self._is_high(meter)
                to_meter, to_reserve = self._shares(meter, sum(every.values()), high=high)
                over = self.fill(f"table:{table_id}", meter, to_meter)
                if there := self.meters[meter].overflow_to:
                    table.passed[meter, table.came(*own[0])] = over, self.cycles[there]
                self.move(f"table:{table_id}", f"reserve:{meter}", to_reserve)
                continue
            for position, wager in sorted(own, key=lambda one: (-one[0], order.index(one[1]))):
                to_meter, _ = self._shares(meter, every[position, wager], high=False)
                self.move(f"table:{table_id}", f"meter:{meter}", to_meter)
                value = self.hidden(meter, self.cycles[meter])
                if self.held(meter) * 10_000 >= value:
                    won.append(
                        self._hit(table_id, event, meter, position, value // 10_000, len(won))
                    )
        return won

    def _hit(  # noqa: PLR0917
        self,
        table_id: str,
        event: dict[str, Any],
        meter: str,
        position: int,
        cents: int,
        before: int,
    ) -> dict[str, Any]:
        one, account, reserve = self.meters[meter], f"meter:{meter}", f"reserve:{meter}"
        claim = f"{self.link}.{table_id}-{event['seq']}-{before + 1}"
        self.move(account, f"claim:{claim}", Fraction(cents))
        self.cycles[meter] += 1
        least = one.law.reseed * one.wager_cents
        self.move("house", account, Fraction(least))
        room = max(Fraction(0), Fraction(least + one.maximum_cents, 2) - self.held(meter))
        self.move(reserve, account, min(room, self.accounts[reserve]))
        self.claims[claim] = SecondClaim(
            meter,
            cents,
            floor(self.held(meter)),
            percent=True,
            hand_pay=True,
            table=table_id,
            hidden=True,
            holds=False,
        )
        for name, by in (("wins", 1), ("won_cents", cents)):
            self.tallies[name] += by
            self.tallies[f"{name}:{meter}"] += by
        self.tallies[f"hits:{meter}"] += 1
        self.entries += 1
        item = f"{meter}_jackpot"
        return {"claim": claim, "position": position, "item": item, "amount": cents}

    def _undo(  # noqa: PLR0917
        self, table_id: str, meter: str, count: int, cents: int, cycle: int, came: str,
        *, high: bool,
    ) -> None:  # fmt: skip
        """Give back what wagers brought; the house pays what a win has taken."""
        table_account, won = f"table:{table_id}", self.cycles[meter] != cycle
        (pool, to_reserve), reserve = self._shares(meter, cents, high=high), f"reserve:{meter}"
        passed, then = self.tables[table_id].passed.get((meter, came), (Fraction(0), 0))
        back = min(pool, passed)
        if passed:
            self.tables[table_id].passed[meter, came] = passed - back, then
        given = Fraction(0) if won else self.give_back(meter, table_account, pool - back)
        there = self.meters[meter].overflow_to
        if back and self.cycles[there] == then:
            given += self.give_back(there, table_account, back)
        off = Fraction(0) if won else min(to_reserve, self.accounts[reserve])
        self.move(reserve, table_account, off)
        self.move("house", table_account, pool - given + to_reserve - off)
        self.tallies[f"voided_wagers:{meter}"] += count
        self.tallies[f"voided_cents:{meter}"] += cents

    def void(self, table_id: str) -> None:
        table = self.tables[table_id]
        placed: defaultdict[tuple[str, int, str, bool], list[int]] = defaultdict(list)
        for (position, wager, meter), (cycle, cents, high) in table.placed.items():
            placed[meter, cycle, table.came(position, wager), high].append(cents)
        for (meter, cycle, came, high), every in placed.items():
            self._undo(table_id, meter, len(every), sum(every), cycle, came, high=high)
        self.tallies["voids"] += 1
        self.end(table_id)

    def correct(self, table_id: str, event: dict[str, Any]) -> list[dict[str, Any]]:
        """Book one wager that was added after lock-out, or taken back; return as `lay`."""
        table, position, wager = self.tables[table_id], event["position"], event["wager"]
        won = list[dict[str, Any]]()
        if event["action"] == "add":
            table.late.add((position, wager))
            self._place(table, position, wager, event["amount"])
            own = [key for key in table.placed if key[:2] == (position, wager)]
            won = self._feed(table_id, event, own)
        else:
            own = [key for key in table.placed if key[:2] == (position, wager)]
            for key in own:
                cycle, cents, high = table.placed.pop(key)
                came = table.came(position, wager)
                self._undo(table_id, key[-1], 1, cents, cycle, came, high=high)
            table.late.discard((position, wager))
        table.bets = {bet["position"]: bet for bet in event["positions"]}
        if not table.bets:
            self.end(table_id)
            return won
        table.asks, table.decided = "", ""
        self.entries += 1
        return won

    def end(self, table_id: str) -> None:
        table = self.tables[table_id]
        table.over, table.round, table.bets, table.placed = table.round, None, {}, {}
        table.asks, table.decided, table.known = "", "", []
        self.entries += 1

    def take_off(
        self, meter: str, percent: int | Fraction, shares: int, of: Fraction, *, payees: int,
        whole: bool,
    ) -> int:  # fmt: skip
        """Take a percentage of the cents `of` off a meter, in equal shares of whole cents.

        Only the shares of `payees` are taken. If the meter is then won `whole`, reseed it. The
        overflow refills the meter before the next win. What was taken is in the pot until each
        share is somebody's claim.
        """
        law, account = self.meters[meter].law, f"meter:{meter}"
        share = floor(of * percent / 100) // shares
        self.move(account, "pot", Fraction(share * payees))
        if whole:
            self.cycles[meter] += 1
            if law.reserve or law.reserve_above:
                self.fill(f"reserve:{meter}", meter, self.accounts[f"reserve:{meter}"])
            reseed = law.reseed * self.meters[meter].wager_cents
            self.fill("house", meter, Fraction(reseed))
        self.level(meter)
        return share

    def switch(self) -> None:
        self.closed = not self.closed
        self.entries += 1

    def adjust(self, meter: str, cents: int) -> None:
        """Correct a meter, as one person proposed and another confirmed."""
        moved = ("house", f"meter:{meter}") if cents > 0 else (f"meter:{meter}", "house")
        self.move(*moved, Fraction(abs(cents)))
        self.level(meter)
        self.tallies[f"adjusted_{'up' if cents > 0 else 'down'}_cents:{meter}"] += abs(cents)
        self.entries += 2

    def promote(self, local: datetime) -> bool:
        """Add what is due at a time of the facility's clock; return whether something was."""
        clock, day = f"{local:%H:%M}", f"{local:%Y-%m-%d}"
        due: list[tuple[str, str, str | None]] = []
        for name, one in self.promotions.items():
            if one.bps:
                due += self._counted(name, local)
            elif one.begins <= clock < one.ends and self.promoted.get(name, "") < day:
                due.append((name, day, None))
        due = [] if self.closed else due
        for name, on, count in due:
            self.add_promotion(name, on, count)
            if count:
                self._counts[name].at = local
        return bool(due)

    def _counted(self, name: str, local: datetime) -> Iterator[tuple[str, str, str]]:
        """Yield what is due of a promotion that adds a part of each wager, all day."""
        day, count = f"{local:%Y-%m-%d}", self._counts.get(name)
        if count is None or count.day < day:
            if count and not count.ended and local.hour < 12:
                yield name, count.day, "ends"
            yield name, day, "begins"
        elif count.at and local - count.at >= timedelta(minutes=5) and self._part(name):
            yield name, day, "goes_on"

    def add_promotion(self, name: str, day: str, count: str | None) -> int:
        """Book what the house adds to the meter or, above it, the overflow; return the cents."""
        assert not self.closed, f"{name} was added while the link was closed"
        one, last = self.promotions[name], self.promoted.get(name, "")
        # A count can begin again on the same day: a clock was set back.
        in_order = {None: last < day, "begins": last <= day, "goes_on": last == day}
        assert in_order.get(count, last == day), f"{name}: {last}"
        cents = 0 if one.bps else one.cents
        if count == "begins":
            self._counts[name] = _Count(day, self._wagered_cents(one.meter))
        elif count:
            cents = self._part(name)
            assert cents or count == "ends"
            self._counts[name].added += cents
            self._counts[name].ended = count == "ends"
        self.promoted[name] = day
        self.fill("house", one.meter, Fraction(cents))
        self.tallies[f"promotion_cents:{one.meter}"] += cents
        self.entries += 1
        return cents

    def _part(self, name: str) -> int:
        """Return the whole cents that are due of the wagers since the count began."""
        one, count = self.promotions[name], self._counts[name]
        wagered = self._wagered_cents(one.meter) - count.before
        return max(0, floor(Fraction(wagered * one.bps, 10_000)) - count.added)

    def _wagered_cents(self, meter: str) -> int:
        return self.tallies[f"wagered_cents:{meter}"] - self.tallies[f"voided_cents:{meter}"]

    def close_day(self) -> None:
        """Close the gaming day: requests lapse, and its rejections stay."""
        self.entries += 1
        self.day_closed_at = self.entries

    def request(self, claim_id: str, act: str, by: str, *, envy_too: bool = False) -> str:
        """Book a request; return the state of the win, or the code of the refusal."""
        claim = self.claims.get(claim_id)
        if claim is None:
            return "wrong_state" if claim_id in self.envy else "unknown_claim"
        if claim.state != ("pending" if act == "request_reject" else "rejected"):
            return "wrong_state"
        if claim.rejection and claim.rejection.entry <= self.day_closed_at:
            return "day_closed"
        self.entries += 1
        claim.request = SecondRequest(act, by, self.entries, envy_too)
        return claim.state

    def withdraw(self, claim_id: str, entry: int) -> str:
        """Book that a request was withdrawn; return the state of the win, or a refusal's code."""
        claim = self.claims.get(claim_id)
        if claim is None:
            return "wrong_state" if claim_id in self.envy else "unknown_claim"
        if claim.request is None or claim.request.entry != entry:
            return "no_request"
        self.entries += 1
        claim.request = None
        return claim.state

    def reject(self, claim_id: str, by: str, *, envy_too: bool = False) -> str:
        """Book a rejection, or the request of one that two people decide; return the outcome."""
        claim = self.claims.get(claim_id)
        if claim is not None and claim.cents > self.two_people_above_cents:
            return self.request(claim_id, "request_reject", by, envy_too=envy_too)
        return self.decide(claim_id, "reject", by, envy_too=envy_too)

    def confirm(self, claim_id: str, by: str, entry: int) -> str:
        """Book that another person confirmed a request; return the outcome, or a refusal's code."""
        claim = self.claims.get(claim_id)
        if claim is None:
            return "no_request" if claim_id in self.envy else "unknown_claim"
        request = claim.request
        if request is None or request.entry != entry:
            return "no_request"
        if entry <= self.day_closed_at:
            return "day_closed" if claim.rejection else "no_request"
        if request.by == by:
            return "same_person"
        if request.act == "request_reject":
            return self.decide(claim_id, "reject", by, envy_too=request.envy_too, confirms=True)
        self._reopen(claim_id, claim)
        return claim.state

    def _reopen(self, claim_id: str, claim: SecondClaim) -> None:
        """Take the win from where its rejection put it, as far as it is still there.

        A meter that was won since keeps all, and every meter its reseed or what the win left. The
        reserve of a must-hit-by meter gives what it has. The house pays the rest.
        """
        was, one = claim.rejection, self.meters[claim.meter]
        assert was is not None
        account, given = f"claim:{claim_id}", Fraction(0)
        if claim.hidden:  # the reserve, until later cycles begin with it
            given = min(was.cents, self.accounts[f"reserve:{claim.meter}"])
            self.move(f"reserve:{claim.meter}", account, given)
        elif was.cycle == self.cycles[claim.meter]:
            least = min(one.law.reseed * one.wager_cents, claim.after_cents)
            given = self.give_back(claim.meter, account, was.cents - was.passed, least)
        if was.passed and was.passed_cycle == self.cycles[one.overflow_to]:
            given += self.give_back(one.overflow_to, account, was.passed)
        self.move("house", account, claim.cents - given)
        self.tallies[f"reopened:{claim.meter}"] += 1
        self.tallies[f"reopened_cents:{claim.meter}"] += claim.cents
        claim.of_house = claim.cents - given
        envy = self.envy.get(claim_id)
        if envy and envy.state == "rejected":
            for meter, cents in envy.cents.items():
                self.move("house", f"envy:{claim_id}", Fraction(cents))
                self.tallies[f"envy_reopened_cents:{meter}"] += cents
        if envy and envy.state != "paid":
            envy.state = "pending"
        claim.state, claim.request, claim.rejection = "pending", None, None
        self.entries += 1

    def correct_slip(self, claim_id: str, slip: str, replaces: str) -> str:
        """Book another number for a paid win's slip; return the state, or a refusal's code."""
        claim = self.claims.get(claim_id)
        if slip == replaces:
            return "no_change"
        if claim is None:
            return "wrong_state" if claim_id in self.envy else "unknown_claim"
        if self.slips.get(slip, claim_id) != claim_id:
            return "slip_used"
        if claim.state != "paid":
            return "wrong_state"
        if not claim.slip or claim.slip != replaces:
            return "slip_changed"
        claim.slip = slip
        self.slips[slip] = claim_id
        self.entries += 1
        return claim.state

    def _decision_refusal(  # noqa: PLR0911
        self, claim_id: str, act: str, by: str, *, envy_too: bool, slip: str, confirms: bool
    ) -> str | None:
        claim = self.claims.get(claim_id)
        if claim is None:
            return "wrong_state" if claim_id in self.envy else "unknown_claim"
        if act == "reject" and not confirms and claim.cents > self.two_people_above_cents:
            return "two_people"
        if slip and self.slips.get(slip, claim_id) != claim_id:
            return "slip_used"
        allowed = {"pending": ("validate", "reject"), "validated": ("pay",)}
        if act not in allowed.get(claim.state, ()) or (act == "pay" and not claim.hand_pay):
            return "wrong_state"
        if act == "pay" and claim.validated_by == by:
            return "same_person"
        envy = self.envy.get(claim_id)
        owed = "pending" if act == "reject" else "validated"
        if act != "validate" and envy_too and envy and envy.state != owed:
            return "envy_decided"
        return None

    def decide(
        self, claim_id: str, act: str, by: str, *, envy_too: bool = False, slip: str = "",
        confirms: bool = False,
    ) -> str:  # fmt: skip
        """Book a decision; return its outcome, or the code of its refusal.

        `envy_too` rejects the Envy Bonuses of the hand with the win, or pays them with it.
        `confirms` is true for a rejection that another person requested.
        """
        refused = self._decision_refusal(
            claim_id, act, by, envy_too=envy_too, slip=slip, confirms=confirms
        )
        if refused is not None:
            return refused
        claim, envy = self.claims[claim_id], self.envy.get(claim_id)
        if act == "validate":
            claim.validated_by = by
        account, cents = f"claim:{claim_id}", Fraction(claim.cents)
        self.entries += 1
        claim.request = None
        if act == "reject":
            to_house = claim.of_house if claim.percent else cents
            self.move(account, "house", to_house)
            over, there = Fraction(0), self.meters[claim.meter].overflow_to
            if claim.hidden:
                self.move(account, f"reserve:{claim.meter}", cents - to_house)
            else:
                over = self.fill(account, claim.meter, cents - to_house)
            claim.rejection = SecondRejection(
                self.entries,
                cents - to_house,
                self.cycles[claim.meter],
                over if there else Fraction(0),
                self.cycles[there] if there else 0,
            )
            self.tallies[f"rejected:{claim.meter}"] += 1
            self.tallies[f"rejected_cents:{claim.meter}"] += claim.cents
        elif act == "pay" or not claim.hand_pay:
            by = "hand" if claim.hand_pay else "table"
            self.move(account, "paid", cents)
            self.tallies[f"{by}_paid_cents:{claim.meter}"] += claim.cents
        claim.state = {"validate": "validated", "reject": "rejected", "pay": "paid"}[act]
        if envy and act != "validate" and envy_too:
            self._end_envy(claim_id, paid=act == "pay")
        elif envy and envy.state == "pending":
            envy.state = "validated"
        if slip:
            claim.slip = slip
            self.slips[slip] = claim_id
        return claim.state

    def pending(self, meter: str) -> bool:
        return any(
            claim.meter == meter and claim.percent and claim.state == "pending"
            for claim in self.claims.values()
        )


def _entered(table: SecondTable, event: dict[str, Any]) -> list[dict[str, Any]]:
    """Return the cards that were entered and are not settled, as far as a request named them."""
    cards_of = partial(_cards, ordered=table.game.deal.community_ordered)
    named = [
        cards_of(one["what"], one, one.get("position"))
        for one in event.get("entered") or event.get("entered_before") or ()
    ]
    settled = [
        cards_of("hand", box, box["position"])
        for box in event.get("positions", ())
        if not box.get("folded")
    ]
    settled += [cards_of(what, {"cards": event.get(what)}) for what in ("dealer", "community")]
    return named + [one for one in table.known if one not in named and one not in settled]


def _cards(
    what: str, one: dict[str, Any], position: int | None = None, *, ordered: bool
) -> dict[str, Any]:
    cards, no_win = list(one.get("cards") or ()), one.get("no_win", False)
    if not (ordered and what == "community"):
        cards.sort()
    return {"what": what, "position": position, "cards": cards, "no_win": no_win}


def _correction(table: SecondTable, event: dict[str, Any]) -> str:
    """Return what a floorperson must confirm before an event is booked, or an empty text."""
    if event["type"] == "correct_wager":
        wager = ("type", "action", "position", "wager", "reason", "positions")
        return json.dumps([event[name] for name in wager])
    entered = _entered(table, event)
    if not entered or not (event.get("confirm") or table.known):
        return ""
    about = ("type", "reason", "positions", "dealer", "community")
    return json.dumps([entered, *(event.get(name) for name in about)])


def _result_faults(table: SecondTable, event: dict[str, Any]) -> Iterator[str]:
    dealt = {box["position"]: box for box in event["positions"]}
    for position, box in dealt.items():
        patrons = {table.bets.get(position, {}).get("patron"), box.get("patron")} - {None}
        if len(patrons) > 1:
            yield "patron_differs"
    if table.bets.keys() - dealt.keys():
        yield "position_missing"
    seen: list[str] = []
    wagered = {wager for bet in table.bets.values() for wager in bet["wagers"]}
    for box in dealt.values():
        cards = box.get("cards")
        if box.get("no_win"):
            if cards is not None:
                yield "no_win_with_cards"
            if box.get("folded"):
                yield "no_win_folded"
        needs = table.game.deal.hand and not box.get("no_win")
        if needs and cards is None and _shows_cards(table, box):
            yield "cards_missing"
        seen += cards or ()
    seen += [*event["dealer"], *event.get("community", ())]
    deal = table.game.deal
    if not deal.results and any(seen.count(card) > deal.decks for card in seen):
        yield "card_twice"
    if "community" not in event and wagered.intersection(table.game.needs_community):
        yield "community_missing"
    if code := table.game.refusal(round_of(table, event)):
        yield code


def round_of(table: SecondTable, event: dict[str, Any]) -> Round:
    """Return the round as `tests.naive` settles it. Folded cards were kept (reading T8)."""
    boxes: list[Box] = []
    for dealt in event["positions"]:
        bet, cards = table.bets.get(dealt["position"], {}), dealt.get("cards", [])
        box: Box = {
            "position": dealt["position"],
            "folded": dealt.get("folded", False),
            "kept": bool(dealt.get("folded") and cards),
            "no_win": dealt.get("no_win", False),
            "wagers": bet.get("wagers", {}),
        }
        if cards:
            box["cards"] = cards
        if patron := bet.get("patron") or dealt.get("patron"):
            box["patron"] = patron
        boxes.append(box)
    return {
        "positions": boxes,
        "dealer": event["dealer"],
        "community": event.get("community", []),
        "draw": table.draw or {},
    }


def _shows_cards(table: SecondTable, box: dict[str, Any]) -> bool:
    """Return whether a hand stays on the table (reading T8)."""
    wagers: Mapping[str, int] = table.bets.get(box["position"], {}).get("wagers", {})
    stays = any(wager in table.game.live for wager in wagers)
    return not box.get("folded") or stays or bool(box.get("cards"))
