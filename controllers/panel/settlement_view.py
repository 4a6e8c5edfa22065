"""A settlement as the dealer sees it: amounts, positions, sources and open wins."""

from collections.abc import Mapping, Sequence
from typing import Final

from bonus.display import hand_words
from bonus.rounds import Line, Outcome
from bonus.wagers import LUCKY_BONUS, MAGIC_CARD, PaidFrom, is_envy
from controllers.panel import views
from controllers.table.open_settlements import LineState, due_lines, line_state, open_lines
from controllers.table.state import Layout, SettledRound, TableState

_DRAWS: Final[Mapping[str, views.LineKind]] = {MAGIC_CARD: "magic_card", LUCKY_BONUS: "lucky"}
_SOURCES: Final[Mapping[PaidFrom | None, tuple[str, str]]] = {
    PaidFrom.TABLE_INVENTORY: ("from the table inventory", "you pay it from the table inventory"),
    PaidFrom.GAME_ACCOUNT: ("to the player's game account", "you credit it to the game account"),
    PaidFrom.HAND_PAY: ("hand pay: not from the table inventory", "a floorperson pays it by hand"),
    None: ("", ""),
}
"""The source of a payout, and who pays it."""
_ACTS: Final[Mapping[LineState, str]] = {
    "pay": "Pay",
    "credit": "Credit",
    "wait": "Wait for floorperson",
    "hand_pay": "Do not pay: hand pay, cards stay",
    "paid": "Paid by a floorperson",
    "rejected": "Do not pay: rejected",
    "ask": "Ask the floorperson: the win was rejected",
    "done": "Paid",
    "nothing": "Nothing",
}

_DUE: Final = ("pay", "credit", "wait", "hand_pay", "ask")


def settled_view(layout: Layout, settled: SettledRound) -> views.SettledView:
    """Return the view, turn by turn in paying order (649a.11(c), reading G1)."""
    turns: list[tuple[int, list[views.LineView]]] = []
    for number, line in enumerate(settled.lines):
        turn = line.envy_of or line.position
        if not turns or turns[-1][0] != turn:
            turns.append((turn, []))
        turns[-1][1].append(_line_view(layout, settled, number))
    cards = {hand.position: hand.cards for hand in settled.hands}
    shown = [line for _, lines in turns for line in lines]
    return views.SettledView(
        round=settled.round,
        turns=[
            views.TurnView(position=position, cards=cards.get(position), lines=lines)
            for position, lines in turns
        ],
        due=_due(shown),
        dealer=settled.dealer,
        community=settled.community,
        draw=settled.draw,
        undecided=len(settled.undecided),
        open=[line for line in shown if line.line in open_lines(settled)],
        seen={number: line_state(settled, number) for number in due_lines(settled)},
        told=_payment_view(settled, shown),
    )


def _payment_view(settled: SettledRound, lines: Sequence[views.LineView]) -> str:
    """Return the dealer's next task in words, only what is to be done."""
    states = {"pay" if line.state == "nothing" else line.state for line in lines if line.amount}
    due = " and ".join(state for state in ("pay", "credit") if state in states).capitalize()
    rest = f" {due} the rest." if due else ""
    if settled.undecided:
        return f"A win waits for a floorperson.{rest}"
    if "ask" in states:
        return f"A win was rejected: ask the floorperson about the Envy Bonus.{rest}"
    if "rejected" in states:
        then = f"{due} the rest, then begin" if due else "Begin"
        return f"A win was rejected: do not pay it. {then} the next round."
    return f"{due}, then begin the next round." if due else "Nothing is due. Begin the next round."


def held_views(layout: Layout, state: TableState) -> list[views.HeldView]:
    held = []
    for claim in state.held:
        opened, decided = state.holding(claim) or (None, None)
        then = "A floorperson must validate the win. Then another floorperson pays it by hand."
        if decided == "validated":
            then = (
                "The win is validated. Another floorperson pays it by hand and records the payment."
            )
        held.append(
            views.HeldView(
                claim=claim,
                position=opened.position if opened else None,
                item=layout.words(opened.item) if opened else "A win",
                amount=opened.amount if opened else None,
                validated=decided == "validated",
                told=f"Do not pay. {then}",
                rule=layout.validation(opened.item if opened else "").stays,
            )
        )
    return held


def _line_view(layout: Layout, settled: SettledRound, number: int) -> views.LineView:
    line, state = settled.lines[number], line_state(settled, number)
    act, (source, payer) = _ACTS[state], _SOURCES[line.paid_from]
    if state == "nothing":
        # The chips of this wager were collected at lock-out (649a.8(b)). An electronic wager has no
        # chips.
        act = {
            Outcome.PAID: "Won, see its jackpots",
            Outcome.RETURNED: "Returned",
            Outcome.COLLECTED: "Lost, nothing to collect",
        }[line.outcome]
    return views.LineView(
        line=number,
        position=line.position,
        kind="envy" if is_envy(line.item) else _DRAWS.get(line.item, "wager"),
        item=layout.words(line.item) + (", dealer's hand" if line.on == "dealer" else ""),
        hand=hand_words(line.hand or ""),
        amount=line.paid + line.returned,
        state=state,
        act=act,
        source=source,
        payer=payer,
        rule=line.rule,
        why=_why(layout, line),
        percent=line.percent,
        envy_of=line.envy_of,
    )


def _why(layout: Layout, line: Line) -> list[str]:
    if line.outcome is not Outcome.PAID:
        return [f"{line.rule}: the payouts of this wager."]
    validation = layout.validation(line.item)
    why = [f"{line.rule}: the payout of this hand."]
    if line.percent:
        why[0] = f"{line.rule}: this hand pays {line.percent}% of the meter."
    if line.envy_of is not None:
        why.append(f"The Envy Bonus is for the hand of position {line.envy_of}.")
    elif line.item in _DRAWS:
        why.append(f"{validation.stays}: credited to the player's game account.")
    else:
        why.append(f"{validation.rule}: the wins that a floorperson validates.")
    if line.paid_from is PaidFrom.HAND_PAY:
        why.append(
            f"{validation.stays}: not paid at the table; the cards stay until the documents are"
            " done."
        )
    return why


def _due(lines: list[views.LineView]) -> list[views.DueView]:
    sums: dict[int, dict[str, int]] = {}
    for line in lines:
        if not line.amount or line.state in {"rejected", "paid", "done"}:
            continue
        at = sums.setdefault(line.position, dict.fromkeys(_DUE, 0))
        at["pay" if line.state == "nothing" else line.state] += line.amount
    return [
        views.DueView(position=position, **sums[position])
        for position in sorted(sums, reverse=True)
    ]
