"""Counts of a batch of events, added to the metrics all at once.

To change a metric takes more time than to process a wager.
"""

from meters.books.script_steps import DueStep
from meters.intake.repeated_wagers import AddedByWagers
from meters.metrics.play_metrics import PlayMetrics, WinKind


class BatchCounts:
    def __init__(self) -> None:
        self._events: dict[tuple[str, str], int] = {}
        self._refusals: dict[str, int] = {}
        self._added: dict[str, tuple[AddedByWagers, int]] = {}
        self._tables: dict[str, list[int]] = {}
        self._wins: dict[tuple[str, WinKind], list[int]] = {}
        self._voids: dict[str, int] = {}
        self._reentered: dict[str, int] = {}
        self._unconfirmed: dict[str, int] = {}
        self._corrected: dict[str, int] = {}
        self._dealt_twice = 0

    def event(self, event_type: str, status: str) -> None:
        key = (event_type, status)
        self._events[key] = self._events.get(key, 0) + 1

    def refusal(self, code: str) -> None:
        self._refusals[code] = self._refusals.get(code, 0) + 1

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
        self._voids[table] = self._voids.get(table, 0) + 1

    def reentered(self, table: str, hands: int) -> None:
        """Count hands whose cards the dealer took back and entered differently."""
        self._reentered[table] = self._reentered.get(table, 0) + hands

    def unconfirmed(self, table: str) -> None:
        """Count a correction that was applied without a floorperson's confirmation."""
        self._unconfirmed[table] = self._unconfirmed.get(table, 0) + 1

    def corrected(self, table: str) -> None:
        """Count a wager that was added or taken back after lock-out."""
        self._corrected[table] = self._corrected.get(table, 0) + 1

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
        for table, voids in self._voids.items():
            play.count_void_after_cards(link, table, voids)
        for table, hands in self._reentered.items():
            play.count_reentered(link, table, hands)
        for table, corrections in self._unconfirmed.items():
            play.count_unconfirmed(link, table, corrections)
        for table, wagers in self._corrected.items():
            play.count_corrected(link, table, wagers)
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
