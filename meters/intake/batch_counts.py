"""Counts of a batch of events, added to the metrics all at once.

To change a metric takes more time than to process a wager.
"""

from collections import defaultdict

from meters.books.script_steps import DueStep
from meters.intake.repeated_wagers import AddedByWagers
from meters.metrics.play_metrics import PlayMetrics, TableCount, WinKind


class BatchCounts:
    def __init__(self) -> None:
        self._events: defaultdict[tuple[str, str], int] = defaultdict(int)
        self._refusals: defaultdict[str, int] = defaultdict(int)
        self._added: dict[str, tuple[AddedByWagers, int]] = {}
        self._tables: dict[str, list[int]] = {}
        self._wins: dict[tuple[str, WinKind], list[int]] = {}
        self._at_table: defaultdict[tuple[TableCount, str], int] = defaultdict(int)
        self._dealt_twice = 0

    def event(self, event_type: str, status: str) -> None:
        self._events[event_type, status] += 1

    def refusal(self, code: str) -> None:
        self._refusals[code] += 1

    def wagers(self, table: str, added: AddedByWagers) -> None:
        # Many tables have the same wagers, so these are multiplied when the counts are written.
        _, events = self._added.get(added.text, (added, 0))
        self._added[added.text] = (added, events + 1)
        at_table = self._tables.setdefault(table, [0, 0])
        at_table[0] += added.wagers
        at_table[1] += added.wagered_cents

    def win(self, due: DueStep, won_cents: int) -> None:
        kind: WinKind = "percent" if due.take else "odds"
        sums = self._wins.setdefault((due.meter, kind), [0, 0])
        sums[0] += 1
        sums[1] += won_cents

    def void_after_cards(self, table: str) -> None:
        """Count the void of a round for which cards had already been entered."""
        self._at_table["table_voids_after_cards", table] += 1

    def reentered(self, table: str, hands: int) -> None:
        """Count hands whose cards the dealer took back and entered differently."""
        self._at_table["table_hands_reentered", table] += hands

    def unconfirmed(self, table: str) -> None:
        """Count a correction that was applied without a floorperson's confirmation."""
        self._at_table["table_corrections_unconfirmed", table] += 1

    def corrected(self, table: str) -> None:
        """Count a wager that was added or taken back after lock-out."""
        self._at_table["table_wagers_corrected", table] += 1

    def dealt_twice(self) -> None:
        """Count a result with the same round id and the same cards as another table's result."""
        self._dealt_twice += 1

    def write(self, link: str, play: PlayMetrics) -> None:
        for (event_type, status), events in self._events.items():
            play.count_event(link, event_type, status, events)
        for code, refusals in self._refusals.items():
            play.count_refusal(link, code, refusals)
        self._write_wagers(link, play)
        for (meter, kind), (wins, won_cents) in self._wins.items():
            play.count_wins(link, meter, kind, wins=wins, won_cents=won_cents)
        for (name, table), number in self._at_table.items():
            play.count_at_table(name, link, table, number)
        if self._dealt_twice:
            play.count_dealt_twice(link, self._dealt_twice)

    def _write_wagers(self, link: str, play: PlayMetrics) -> None:
        for added, events in self._added.values():
            for one in added.contributions:
                play.count_wagers(
                    link,
                    one.meter,
                    wagers=events * one.wagers,
                    wagered_cents=events * one.wagered_cents,
                    contributed_micros=events * (one.meter_micros + one.reserve_micros),
                )
        for table, (wagers, cents) in self._tables.items():
            play.count_table(link, table, wagers=wagers, wagered_cents=cents)
