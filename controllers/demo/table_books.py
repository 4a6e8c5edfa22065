"""Totals from this run's answers to device events and the meters' rates, not from the ledger."""

from dataclasses import dataclass
from pathlib import Path

from msgspec import UNSET

from controllers.agent.agent import Agent
from controllers.agent.delivery import BrokerPlace
from controllers.table.device_events import DeviceAnswer
from controllers.table.state import PlacedWager
from meters.floor.floor_file import Link, Table


@dataclass(slots=True)
class TableBooks:
    """Totals of all tables; wagers and contributions of voided rounds are not included.

    `rounds` counts those with a progressive wager, and `wins` settlement lines with a payout. In
    `meter_wagers`, as in the ledger, a wager counts once for each meter that it feeds. The
    contributions are those to meters and reserves, at the rates of the meters.
    """

    rounds: int = 0
    wagers: int = 0
    wagered_cents: int = 0
    meter_wagers: int = 0
    meter_wagered_cents: int = 0
    contributions_micros: int = 0
    wins: int = 0
    won_cents: int = 0


class BookedAgent(Agent):
    def __init__(
        self, link: Link, table: Table, broker: BrokerPlace, outbox_path: Path, books: TableBooks
    ) -> None:
        super().__init__(link, table, broker, outbox_path)
        self._books = books
        rates_bps = {
            kind: meter.terms.primary_bps + meter.terms.reserve_bps
            for kind, meter in link.meters_of(table).items()
        }
        self._rates_bps = {
            wager: [rates_bps[kind] for kind in tables.fed if kind in rates_bps]
            for wager, tables in self.layout.rules.meters.terms.items()
        }
        self._counted: tuple[PlacedWager, ...] = ()

    def on_answer(self, answer: DeviceAnswer) -> None:
        if not answer.ok:
            return
        match answer.event:
            case "lockout" if answer.round is not UNSET:
                self._counted = self.table_state.wagers
                self._count(1)
            case "correct_wager":
                self._count(-1)
                self._counted = self.table_state.wagers
                self._count(1)
            case "settle" if self._counted:
                self._counted = ()
                self._books.rounds += 1
                paid_cents = [line.paid for line in answer.lines or () if line.paid]
                self._books.wins += len(paid_cents)
                self._books.won_cents += sum(paid_cents)
            case "void":
                self._count(-1)
                self._counted = ()

    def _count(self, sign: int) -> None:
        for placed in self._counted:
            cents = sign * placed.amount_cents
            self._books.wagers += sign
            self._books.wagered_cents += cents
            for rate_bps in self._rates_bps[placed.wager]:
                self._books.meter_wagers += sign
                self._books.meter_wagered_cents += cents
                self._books.contributions_micros += cents * rate_bps
