"""Corrections that tables ask floorpersons to confirm: what was shown, decided and applied."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final

from meters.acts.claim_types import AskedCards, AskedWager, AskRow

Record = dict[str, Any]
_STATES: Final = {"confirm_correction": "confirmed", "refuse_correction": "refused"}
_BEFORE: Final = {"void": "entered", "result": "entered_before"}
_WHAT: Final = {"add": "add_wager", "take_back": "take_back_wager"}


@dataclass(frozen=True, slots=True)
class _Decision:
    state: str
    by: str
    ask: str


class Asks:
    """Compares each applied correction with what was shown to the person who confirmed it.

    A difference raises `AssertionError`.
    """

    def __init__(self) -> None:
        self._shown: dict[str, AskRow] = {}
        self._decided: dict[str, _Decision] = {}
        self._known: dict[str, list[AskedCards]] = {}
        self.applied = 0
        self.refused: set[tuple[str, str, str]] = set()

    def show(self, row: AskRow) -> None:
        """Record what a person is shown of a request. It must be the same each time."""
        known = self._shown.setdefault(row.ask, row)
        assert known == row, f"{row.ask} was shown as {known}, and now as {row}"

    def decide(self, entry: Record, event: Record, open_round: str | None) -> None:
        table, by = entry["table"], entry["by"]
        made = _Decision(_STATES[entry["kind"]], by, event["ask"])
        assert entry["round"] == event["round"] == open_round, f"{table} has {open_round} open"
        before = self._decided.get(table)
        assert before is None or before.ask != made.ask, f"{made} after {before}"
        row = self._shown[made.ask]
        assert (row.table, row.round) == (table, open_round), f"{made} is about {row}"
        self._decided[table] = made
        self._known.setdefault(table, []).extend(row.cards)
        if made.state == "refused":
            self.refused.add((table, entry["round"], by))

    def apply(self, entry: Record, event: Record) -> None:
        """Record the entry of a table's event, which uses up the decision for its round."""
        kind, table = entry["kind"], entry["table"]
        decided, due = self._decided.pop(table, None), f"table:{table}"
        known = self._known.pop(table, [])
        asks = entry["by"] != due or kind == "correct_wager"
        if kind == "correct_wager":
            assert not known, f"{event} came after {known}"
        if kind in _BEFORE:
            asks |= bool(event.get("confirm") and event.get(_BEFORE[kind]))
            asks |= any(kind == "void" or not _keeps(event, one) for one in known)
        if asks:
            assert decided is not None, f"{event} was confirmed by nobody"
            assert decided.state == "confirmed", f"{event} was refused: {decided}"
            due += f", confirmed by {decided.by}"
            self._hold_shown(self._shown[decided.ask], kind, event)
            self.applied += 1
        assert entry["by"] == due, f"{event} is by {entry['by']!r}, due {due!r}"

    def hold(self, held: Mapping[str, str], rounds: Mapping[str, str | None]) -> None:
        for name, text in held.items():
            table = name.removesuffix("!")
            assert rounds[table] is not None, f"{table} asks, and has no round open"
            if name == table:
                continue
            state, by = text.split("\n")[:2]
            made = self._decided.get(table)
            assert made is not None, f"{table} is {state} by {by}, and nobody decided"
            assert (made.state, made.by) == (state, by), f"{table} is {state} by {by}, not {made}"
            assert held[table].split("\n")[1] == made.ask, f"{made} stands under another ask"

    @staticmethod
    def _hold_shown(row: AskRow, kind: str, event: Record) -> None:
        if kind == "correct_wager":
            bets = [bet for bet in event["positions"] if bet["position"] == event["position"]]
            due_wager = AskedWager(
                position=event["position"], wager=event["wager"], amount=event["amount"],
                patron=bets[0].get("patron") if bets else None,
            )  # fmt: skip
            assert (row.what, row.wager) == (_WHAT[event["action"]], due_wager)
            assert (row.round, row.reason) == (event["round"], event["reason"])
            return
        shown = [
            (one.what, one.position, list(one.before), list(one.after), one.taken_back, one.reason)
            for one in row.cards
        ]
        due = [
            (
                one["what"],
                one.get("position"),
                one.get("cards", []),
                _settled(event, one) if kind == "result" else [],
                one.get("taken_back", False),
                one.get("reason"),
            )
            for one in event.get(_BEFORE[kind]) or ()
        ]
        assert (row.what, row.round, row.reason) == (kind, event["round"], event.get("reason"))
        assert shown[: len(due)] == due, f"applied is {due}, shown was {shown}"
        for one in row.cards[len(due) :]:
            assert kind == "void" or not _keeps(event, one), f"{one} was shown, and is kept"


def _keeps(event: Record, shown: AskedCards) -> bool:
    folded = any(
        one.get("folded") for one in event["positions"] if one["position"] == shown.position
    )
    cards = _settled(event, {"what": shown.what, "position": shown.position})
    declared = any(
        one.get("no_win") for one in event["positions"] if one["position"] == shown.position
    )
    return not folded and sorted(cards) == sorted(shown.before) and declared == shown.before_no_win


def _settled(event: Record, entered: Record) -> Sequence[str]:
    if entered["what"] != "hand":
        return list(event.get(entered["what"]) or ())
    return [
        card
        for one in event["positions"]
        if one["position"] == entered["position"]
        for card in one.get("cards") or ()
    ]
