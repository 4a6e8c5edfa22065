"""The tour of a demonstration: one jackpot at the panel's table, from the light to the audit.

The devices' events go to the table's agent. The acts of Flo and Fred go to the service over HTTP,
as from their pages. If the visitor has taken a step, the tour does not take it again.
"""

import asyncio
import os
import sys
from collections.abc import Awaitable, Callable
from http import HTTPStatus
from pathlib import Path
from typing import Final

import httpx
import msgspec
from rich.console import Console
from rich.text import Text

from bonus.display import money
from bonus.errors import UserError
from bonus.rounds import Line
from controllers.agent.agent import Agent, occurs
from controllers.demo.dealer_bots import RoundPlayed, clear_table
from controllers.demo.resettlement import RoundRecord
from controllers.table.device_events import (
    BettingLocked,
    ChipsCounted,
    DealerRead,
    DeviceAnswer,
    DeviceEvent,
    HandRead,
    SettlePressed,
    WagerPlaced,
    encode_event,
)
from controllers.table.state import Hand, Phase
from meters.floor.facility import PUBLIC_PIN

_POSITION: Final = 3
_WAGER: Final = "progressive"
_STAKE_CENTS: Final = 1_000
_CARDS: Final = ["As", "Ks", "Qs"]
_DEALER: Final = ["9c", "7d", "2h"]
_DECIDES: Final = ("Flo", "Fred")
_PANEL: Final = "the panel"
_SIGNAGE: Final = "the signage"
_FLOOR_PAGE: Final = "the floor page"
_STEP_S: Final = 5.0
_LOOK_EVERY_S: Final = 1.0
_LIVE_WITHIN_S: Final = 30.0


class _Claim(msgspec.Struct, frozen=True):
    """The fields of a claim that the tour needs; amounts are in cents."""

    claim: str
    table: str
    order: str
    amount: int
    state: str
    paid_from: str
    envy_state: str | None = None
    validated_by: str | None = None
    paid_by: str | None = None
    slip: str | None = None


class Tour:
    """Walks through the steps, and waits for the visitor after each.

    Without a terminal, or after the end of the input, it pauses instead. `on_round` receives the
    round, if the visitor played no part of it.
    """

    def __init__(
        self,
        console: Console,
        agent: Agent,
        client: httpx.AsyncClient,
        slip: Path,
        *,
        speed: float,
        on_round: Callable[[RoundPlayed], None],
    ) -> None:
        self._console = console
        self._agent = agent
        self._client = client
        self._slip = slip
        self._step_s = _STEP_S / speed
        self._on_round = on_round
        self._step = 0
        self._headers: dict[str, dict[str, str]] = {}
        self._typed = sys.stdin.isatty() and console.is_terminal

    async def walk(self) -> None:
        """Walk through the steps, until the last one or until the demonstration stops.

        Raises:
            UserError: the table or the service refused a step.
        """
        try:
            async with asyncio.timeout(_LIVE_WITHIN_S):
                await self._free_table()
        except TimeoutError:
            table = self._agent.layout.table
            raise UserError(f"{table} is not free for the tour: its panel says why") from None
        await self._play()
        await self._decide(await self._settle())

    async def _free_table(self) -> None:
        for claim in await self._claims():
            if claim.table == self._agent.layout.table:
                await self._pay(await self._validate(claim))
        await self._agent.wait_live()
        while self._agent.table_state.phase is Phase.HELD:  # noqa: ASYNC110  (it has no event)
            await asyncio.sleep(_LOOK_EVERY_S)
        await clear_table(self._agent)

    async def _play(self) -> None:
        agent, panel = self._agent, _PANEL
        amount_cents = agent.layout.amount_cents(_WAGER)
        if amount_cents is None:
            raise UserError(f"{agent.layout.table} has no {_WAGER} wager for the tour")
        await self._act(
            WagerPlaced(
                position=_POSITION, wager=_WAGER, amount_cents=amount_cents, patron="Visitor"
            )
        )
        await self._tell(
            "Light",
            f"A patron puts {money(amount_cents)} on the progressive spot of position {_POSITION},"
            " and its light goes on. The table turns a light on only while the service answers, so"
            " nobody bets on a jackpot that is out of reach.",
            panel,
            lambda: self._is_past(Phase.OPEN),
        )
        await self._act(BettingLocked(), unless=lambda: self._is_past(Phase.OPEN))
        await self._tell(
            "Lock-out",
            "The dealer says “no more bets” and presses the button. The wager is on disk at the"
            " table and in the ledger: if a machine fails now, the wager is sent again and counts"
            " once.",
            panel,
            lambda: self._is_past(Phase.LOCKED),
        )
        chips = sum(not agent.layout.is_electronic(w.wager) for w in agent.table_state.wagers)
        await self._act(ChipsCounted(count=chips), unless=lambda: self._is_past(Phase.LOCKED))
        await self._tell(
            "Chip count",
            f"The dealer collects and counts the chips: {chips}, one for each lit wager that is not"
            " electronic. With any other count, the table accepts no card.",
            panel,
            lambda: self._is_past(Phase.DEALT),
        )

    async def _settle(self) -> _Claim:
        agent = self._agent
        await self._act(
            HandRead(position=_POSITION, cards=_CARDS),
            unless=lambda: bool(agent.table_state.hands) or self._is_past(Phase.DEALT),
        )
        await self._act(
            DealerRead(cards=_DEALER),
            unless=lambda: bool(agent.table_state.dealer) or self._is_past(Phase.DEALT),
        )
        await self._tell(
            "Cards",
            "The tour's hand is ace, king and queen of spades. The dealer enters cards, never an"
            " amount: the service works out what the cards win, by the subsection of the law.",
            _PANEL,
            lambda: self._is_past(Phase.DEALT),
        )
        dealt = agent.table_state
        alone = dealt.hands == (Hand(_POSITION, tuple(_CARDS)),) and len(dealt.wagers) == 1
        settled = await self._act(SettlePressed(), unless=lambda: self._is_past(Phase.DEALT))
        hand_pays = [claim for claim in await self._claims() if claim.paid_from == "hand_pay"]
        claim = next((each for each in hand_pays if each.table == agent.layout.table), None)
        if claim is None:
            raise UserError(
                f"the round at {agent.layout.table} was played otherwise and has no win to show;"
                " run the tour again"
            )
        if alone and dealt.dealer == tuple(_DEALER) and settled.lines:
            self._on_round(RoundPlayed((), self._record(settled.lines)))
        await self._tell(
            "Win",
            f"The meter is hit: exactly {money(claim.amount)} leave it for this win, and the panel"
            " holds the table. The signage shows the winning hand, but says “Verified” only"
            " after a person has looked at the cards.",
            _SIGNAGE,
            lambda: self._is_decided(claim.claim, "pending"),
        )
        return claim

    async def _decide(self, claim: _Claim) -> None:
        claim = await self._validate(await self._claim(claim.claim))
        if claim.state == "rejected":
            await self._tell(
                "Rejected", "You rejected the win: its amount is back on the meter.", _FLOOR_PAGE
            )
            return
        await self._tell(
            "Validation",
            f"{claim.validated_by} looked at the cards on the table and validated the win; the"
            " signage now says “Verified”. Who did it, and when, stays in the ledger and in the"
            " operators' log.",
            _FLOOR_PAGE,
            lambda: self._is_decided(claim.claim, "validated"),
        )
        await self._write_slip(claim)
        await self._tell(
            "Payout slip",
            "The slip has the hand, the rule, the amount, and lines to sign. pitlink also records"
            " that the slip was printed, and by whom.",
            str(self._slip),
            lambda: self._is_decided(claim.claim, "validated"),
        )
        claim = await self._pay(await self._claim(claim.claim))
        await self._tell(
            "Payment",
            f"{claim.paid_by} recorded the payment with slip {claim.slip}, and the table is free."
            f" {claim.validated_by} could not do that: one person validates a hand pay, another"
            " pays it.",
            _FLOOR_PAGE,
        )
        await self._tell(
            "Audit",
            "Now the demonstration ends, replays its whole ledger and settles every round again"
            " from its cards, this one too. It uses no result that it has stored.",
            "the last lines here",
        )

    def _is_past(self, phase: Phase) -> bool:
        phases = list(Phase)
        return phases.index(self._agent.table_state.phase) > phases.index(phase)

    async def _act(
        self, event: DeviceEvent, unless: Callable[[], bool] = lambda: False
    ) -> DeviceAnswer:
        if unless():
            return DeviceAnswer(event=None, ok=False)
        answer = await self._agent.handle(encode_event(event))
        if not answer.ok and answer.error and not unless():
            raise UserError(
                f"{self._agent.layout.table} refused the tour's next step: {answer.error.message}."
                " Void the round at its panel and run the tour again"
            )
        return answer

    def _record(self, lines: tuple[Line, ...]) -> RoundRecord:
        layout = self._agent.layout
        wagers = {"ante": _STAKE_CENTS, "play": _STAKE_CENTS, _WAGER: layout.amount_cents(_WAGER)}
        hand = {"position": _POSITION, "patron": "Visitor", "cards": _CARDS, "folded": False}
        fields = {
            "game": layout.game,
            "paytables": dict(layout.paytables),
            "positions": [{**hand, "wagers": wagers}],
            "dealer": _DEALER,
        }
        items = layout.rules.meters.meter_of.keys()
        return RoundRecord(fields, layout.terms, lines, items, layout.games)

    async def _validate(self, claim: _Claim) -> _Claim:
        return await self._ask("Flo", claim, "validate") if claim.state == "pending" else claim

    async def _pay(self, claim: _Claim) -> _Claim:
        """Pay a validated hand pay, as the one of Flo and Fred who did not validate it."""
        if claim.state != "validated" or claim.paid_from != "hand_pay":
            return claim
        payer = next(name for name in _DECIDES if name != claim.validated_by)
        owed = claim.envy_state == "validated"
        slip = f"TOUR-{claim.order}"
        return await self._ask(payer, claim, "pay", {"slip": slip, "envy_paid": owed})

    async def _ask(
        self, name: str, claim: _Claim, act: str, body: dict[str, object] | None = None
    ) -> _Claim:
        try:
            answer = await self._http("POST", f"claims/{claim.claim}/{act}", name, body or {})
        except UserError:
            now = await self._claim(claim.claim)
            if now.state == claim.state:
                raise
            return now
        return msgspec.json.decode(answer.content, type=_Claim)

    async def _claims(self) -> tuple[_Claim, ...]:
        claims = msgspec.json.decode(
            (await self._http("GET", "claims", "Flo")).content, type=tuple[_Claim, ...]
        )
        return tuple(claim for claim in claims if claim.state in {"pending", "validated"})

    async def _claim(self, claim: str) -> _Claim:
        answer = await self._http("GET", f"claims/{claim}", "Flo")
        return msgspec.json.decode(answer.content, type=_Claim)

    async def _is_decided(self, claim: str, state: str) -> bool:
        return (await self._claim(claim)).state != state

    async def _write_slip(self, claim: _Claim) -> None:
        slip = await self._http("GET", f"claims/{claim.claim}/slip.pdf", "Flo")
        try:
            self._slip.write_bytes(slip.content)
        except OSError as error:
            raise UserError(f"the payout slip cannot be written: {error}") from None

    async def _http(
        self, method: str, path: str, name: str, body: dict[str, object] | None = None
    ) -> httpx.Response:
        try:
            if name not in self._headers and path != "sign-in":
                person: dict[str, object] = {"name": name, "pin": PUBLIC_PIN}
                signed_in = await self._http("POST", "sign-in", name, person)
                cookie = signed_in.headers["set-cookie"].partition(";")[0]
                csrf = signed_in.json()["csrf"]
                self._headers[name] = {"Cookie": cookie, "X-CSRF-Token": csrf}
            answer = await self._client.request(
                method, f"/api/v1/{path}", headers=self._headers.get(name), json=body
            )
        except httpx.HTTPError as error:
            raise UserError(f"the service did not answer {name}: {error}") from None
        if answer.status_code == HTTPStatus.UNAUTHORIZED and name in self._headers:
            # The visitor read for so long that the service wants the PIN again.
            del self._headers[name]
            return await self._http(method, path, name, body)
        if not answer.is_success:
            raise UserError(f"the service refused {name}: {_reason(answer)}")
        return answer

    async def _tell(
        self,
        title: str,
        words: str,
        where: str,
        taken: Callable[[], bool | Awaitable[bool]] = lambda: False,
    ) -> None:
        """Show a step. Wait for Enter, for the pause, or until the visitor took the next step."""
        self._step += 1
        self._console.print(Text(f"\n{self._step}. {title}", "bold"))
        self._console.print(words, soft_wrap=False)
        self._console.print("Look at ", Text(where, "bold"), sep="", soft_wrap=True)
        if not self._typed:
            await asyncio.sleep(self._step_s)
            return
        self._console.print("Press Enter to go on.", style="dim")
        entered, loop = asyncio.Event(), asyncio.get_running_loop()
        loop.add_reader(sys.stdin, entered.set)
        try:
            while not await occurs(entered, _LOOK_EVERY_S):
                done = taken()
                if done if isinstance(done, bool) else await done:
                    self._console.print("You did the next step yourself.")
                    return
            if not os.read(sys.stdin.fileno(), 4096):
                self._typed = False
        finally:
            loop.remove_reader(sys.stdin)


def _reason(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["error"]["message"])
    except (ValueError, KeyError, TypeError):
        return answer.text[:400] or answer.reason_phrase
