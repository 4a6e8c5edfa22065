"""The real application on a free port, for one test, and stand-ins for what it asks."""

import asyncio
import itertools
from collections.abc import Mapping, Sequence
from typing import Final

import httpx
import msgspec

from meters.board import Board, MeterRow, MeterState
from meters.metrics import Metrics
from meters.web.app import create_app
from meters.web.doors import Act, ClaimError, ClaimRow
from meters.wire.floor import Floor, parse_floor
from meters.wire.messages import ControllerBeat, Jackpot
from meters.wire.pages.server import serve_web
from tests.waiting import free_port

FLOOR_KEY: Final = "floor-key-of-the-test"
AT: Final = "2026-11-20T02:14:07.250Z"

FLOOR: Final = """
[facility]
name = "Keystone <Casino> & Resort"
timezone = "America/New_York"

[[link]]
id = "tcp-main"
name = "Three Card Poker Jackpot"

[[link.meter]]
kind = "progressive"
wager = 100
paytable = "A"

[[link.meter]]
kind = "five_card_hand_bonus"
wager = 500
name = "Hand Bonus <b>Grand</b>"

[[link]]
id = "pit-2"
name = "Pit 2"

[[link.meter]]
kind = "progressive"
wager = 500
paytable = "A"
"""

CLAIM: Final = ClaimRow(
    claim="c1", order="17-0", link="tcp-main", meter="progressive", table="TCP-03",
    asset="104213", round="R9", position=3, patron="p3", item="progressive",
    hand="mini_royal_spades", cards=("As", "Ks", "Qs"), amount=151_000, percent=100,
    paid_from="hand_pay", state="pending", at=AT,
)  # fmt: skip


class Desk:
    """A claims desk that knows one claim."""

    def __init__(self) -> None:
        self.claim = CLAIM
        self.acts: list[tuple[str, Act, str, str | None, str | None]] = []

    async def waiting(self) -> Sequence[ClaimRow]:
        return [self.claim]

    async def decide(
        self, claim: str, act: Act, actor: str, reason: str | None, slip: str | None
    ) -> ClaimRow:
        if claim != self.claim.claim:
            raise ClaimError("unknown_claim", f"there is no claim {claim}")
        if act == "pay" and self.claim.state != "validated":
            raise ClaimError("wrong_state", "the claim is not validated yet")
        self.acts.append((claim, act, actor, reason, slip))
        state = {"validate": "validated", "reject": "rejected", "pay": "paid"}[act]
        self.claim = msgspec.structs.replace(self.claim, state=state)
        return self.claim


class Vitals:
    """Health as the test wishes it."""

    def __init__(self) -> None:
        self.reasons: dict[str, str] = {}

    def inoperable(self) -> Mapping[str, str]:
        return self.reasons


class Stand:
    """The application of one floor on one port; started and stopped as the test wishes."""

    def __init__(self, floor_text: str = FLOOR) -> None:
        self.floor: Floor = parse_floor(floor_text)
        self.desk = Desk()
        self.health = Vitals()
        self.metrics = Metrics(self.floor)
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self.board = Board()
        self._beats = itertools.count(1)
        self._serving: asyncio.Task[None] | None = None
        self._beating: asyncio.Task[None] | None = None

    async def start(self) -> None:
        """Serve a new board, as a service that has just started would."""
        self.board = Board()
        app = create_app(
            self.floor, self.board, self.desk, self.health, self.metrics, floor_key=FLOOR_KEY
        )
        ready = asyncio.Event()
        self._serving = asyncio.create_task(
            serve_web(app, "127.0.0.1", self.port, ready, self.board.close)
        )
        waiting = asyncio.create_task(ready.wait())
        await asyncio.wait({self._serving, waiting}, timeout=10, return_when="FIRST_COMPLETED")
        waiting.cancel()
        assert ready.is_set(), "the server did not start"

    async def stop(self) -> None:
        """Stop serving, and beating."""
        self.hush()
        if self._serving is not None:
            self._serving.cancel()
            await asyncio.wait({self._serving}, timeout=10)
            assert self._serving.done(), "the server did not stop"
            self._serving = None

    def beat(self, link: str, state: str = "operable", reason: str = "") -> None:
        """One beat of a link's controller."""
        message = {"state": state, "reason": reason, "beat": next(self._beats), "at": AT}
        self.board.put_controller(link, msgspec.convert(message, ControllerBeat))

    def keep_beating(self, **states: str) -> None:
        """Beat for every link, several times a second, until hushed or told otherwise.

        `states` names links with an underscore for the hyphen: ``pit_2="inoperable"``.
        """
        self.hush()
        self._beating = asyncio.create_task(self._beat_on(states))

    async def _beat_on(self, states: Mapping[str, str]) -> None:
        while True:
            for link in self.floor.link:
                self.beat(link.id, states.get(link.id.replace("-", "_"), "operable"))
            await asyncio.sleep(0.3)

    def hush(self) -> None:
        """Let no more beats come."""
        if self._beating is not None:
            self._beating.cancel()
            self._beating = None

    def put(
        self, amount: int, version: int, *, link: str = "tcp-main", meter: str = "progressive",
        cycle: int = 1, state: MeterState = "open",
    ) -> bool:  # fmt: skip
        """Put a meter's value on the board."""
        made = row(
            amount, version, floor=self.floor, link=link, meter=meter, cycle=cycle, state=state
        )
        return self.board.put_meter(made)

    def hit(self, event: str = "hit", claim: str = "c1", **changed: object) -> None:
        """Put a jackpot event of tcp-main's progressive on the board."""
        self.board.put_jackpot("tcp-main", jackpot(event, claim, **changed))

    async def get(self, path: str, **headers: str) -> httpx.Response:
        """Ask for one page."""
        async with httpx.AsyncClient(base_url=self.url, timeout=10) as client:
            return await client.get(path, headers=headers)


def row(
    amount: int, version: int, *, floor: Floor, link: str = "tcp-main",
    meter: str = "progressive", cycle: int = 1, state: MeterState = "open", at: str = AT,
) -> MeterRow:  # fmt: skip
    """A meter's row with what the floor file says of it."""
    found = next(
        each for of in floor.link if of.id == link for each in of.meter if each.meter_id == meter
    )
    return MeterRow(
        link=link, meter=meter, kind=found.kind.value, name=found.title, wager=found.wager,
        amount=amount, version=version, cycle=cycle, state=state, at=at,
    )  # fmt: skip


def jackpot(event: str = "hit", claim: str = "c1", **changed: object) -> Jackpot:
    """A jackpot event of table TCP-03."""
    fields = {
        "event": event, "claim": claim, "meter": "progressive", "table": "TCP-03",
        "position": 3, "item": "progressive", "hand": "mini_royal_spades", "amount": 151_000,
        "meter_after": 100_000, "at": AT,
    }  # fmt: skip
    return msgspec.convert(fields | changed, Jackpot)
