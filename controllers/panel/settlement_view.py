"""A settlement as the dealer sees it: amounts, positions, sources and open wins."""

from collections.abc import Mapping, Sequence
from typing import Final

from bonus.display import hand_words
from bonus.rounds import Line, Outcome
from bonus.wagers import (
    LUCKY_BONUS,
    MAGIC_CARD,
    MUST_HIT_BY,
    BadBeatPart,
    PaidFrom,
    bad_beat_part,
    is_community_share,
    is_envy,
    is_envy_share,
)
from controllers.panel import views
from controllers.panel.views import Said
from controllers.table.open_settlements import LineState, due_lines, line_state, open_lines
from controllers.table.state import Layout, SettledRound, TableState

_DRAWS: Final[Mapping[str, views.LineKind]] = {MAGIC_CARD: "magic_card", LUCKY_BONUS: "lucky"}
_SOURCES: Final[Mapping[PaidFrom | None, tuple[Said | None, Said | None]]] = {
    PaidFrom.TABLE_INVENTORY: (
        Said("from the table inventory"), Said("you pay it from the table inventory"),
    ),
    PaidFrom.GAME_ACCOUNT: (
        Said("to the player's game account"), Said("you credit it to the game account"),
    ),
    PaidFrom.HAND_PAY: (
        Said("hand pay: not from the table inventory"), Said("a floorperson pays it by hand"),
    ),
    None: (None, None),
}  # fmt: skip
"""The source of a payout, and who pays it."""
_ACTS: Final[Mapping[LineState, Said]] = {
    "pay": Said("Pay"),
    "credit": Said("Credit"),
    "wait": Said("Wait for floorperson"),
    "hand_pay": Said("Do not pay: hand pay, cards stay"),
    "paid": Said("Paid by a floorperson"),
    "rejected": Said("Do not pay: rejected"),
    "ask": Said("Ask the floorperson: the win was rejected"),
    "done": Said("Paid"),
    "nothing": Said("Nothing"),
}
_OUTCOMES: Final[Mapping[Outcome, Said]] = {
    # The chips of a losing wager were collected at lock-out (649a.8(b)), or the wager is
    # electronic.
    Outcome.PAID: Said("Won, see its jackpots"),
    Outcome.RETURNED: Said("Returned"),
    Outcome.COLLECTED: Said("Lost, nothing to collect"),
}

_Due = tuple[str, ...]
_REST: Final[Mapping[_Due, Sequence[Said]]] = {
    (): (),
    ("pay",): (Said("Pay the rest."),),
    ("credit",): (Said("Credit the rest."),),
    ("pay", "credit"): (Said("Pay and credit the rest."),),
}
_REST_THEN_BEGIN: Final[Mapping[_Due, Said]] = {
    (): Said("Begin the next round."),
    ("pay",): Said("Pay the rest, then begin the next round."),
    ("credit",): Said("Credit the rest, then begin the next round."),
    ("pay", "credit"): Said("Pay and credit the rest, then begin the next round."),
}
_THEN_BEGIN: Final[Mapping[_Due, Said]] = {
    (): Said("Nothing is due. Begin the next round."),
    ("pay",): Said("Pay, then begin the next round."),
    ("credit",): Said("Credit, then begin the next round."),
    ("pay", "credit"): Said("Pay and credit, then begin the next round."),
}
"""Sentences by what the dealer pays and credits now."""
_ALL_DIVIDE: Final = Said("All players who made the wager divide this percentage.")
_BAD_BEATS: Final[Mapping[BadBeatPart, Said]] = {
    "loser": Said(
        "The percentage is for the highest beaten hand. Players with equal hands divide it."
    ),
    "winner": Said("The percentage is for the highest hand. Players with equal hands divide it."),
    "table": _ALL_DIVIDE,
}
_DUE: Final = ("pay", "credit", "wait", "hand_pay", "ask")


def settled_view(layout: Layout, settled: SettledRound) -> views.SettledView:
    """Return the view, turn by turn in paying order (649a.11(c), reading G1)."""
    turns: list[tuple[int, list[views.LineView]]] = []
    for number, line in enumerate(settled.lines):
        turn = line.holder
        if not turns or turns[-1][0] != turn:
            turns.append((turn, []))
        turns[-1][1].append(_line_view(layout, settled, number))
    cards = {hand.position: hand.cards for hand in settled.hands}
    shown = [line for _, lines in turns for line in lines]
    return views.SettledView(
        round=settled.round,
        title="" if settled.opened(settled.round) else settled.round,
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


def _payment_view(settled: SettledRound, lines: Sequence[views.LineView]) -> list[Said]:
    states = {"pay" if line.state == "nothing" else line.state for line in lines if line.amount}
    due = tuple(state for state in ("pay", "credit") if state in states)
    if settled.undecided:
        return [Said("A win waits for a floorperson."), *_REST[due]]
    if "ask" in states:
        return [Said("A win was rejected: ask the floorperson about the Envy Bonus."), *_REST[due]]
    if "rejected" in states:
        return [Said("A win was rejected: do not pay it."), _REST_THEN_BEGIN[due]]
    return [_THEN_BEGIN[due]]


def held_views(layout: Layout, state: TableState) -> list[views.HeldView]:
    held = []
    for claim in state.held:
        opened, decided = state.holding(claim) or (None, None)
        told = Said(
            "Do not pay. A floorperson must validate the win. Then another floorperson pays it by"
            " hand."
        )
        if decided == "validated":
            told = Said(
                "Do not pay. The win is validated. Another floorperson pays it by hand and records"
                " the payment."
            )
        held.append(
            views.HeldView(
                claim=claim,
                position=opened.position if opened else None,
                item=layout.words(opened.item) if opened else Said("A win"),
                amount=opened.amount if opened else None,
                validated=decided == "validated",
                told=told,
                rule=layout.validation(opened.item if opened else "").stays,
            )
        )
    return held


def _line_view(layout: Layout, settled: SettledRound, number: int) -> views.LineView:
    line, state = settled.lines[number], line_state(settled, number)
    act, (source, payer) = _ACTS[state], _SOURCES[line.paid_from]
    if state == "nothing":
        act = _OUTCOMES[line.outcome]
    if state == "hand_pay" and line.hand == MUST_HIT_BY:
        act = Said("Do not pay: hand pay. Go on with the round.")
    elif state == "hand_pay" and layout.has_results:
        act = Said("Do not pay: hand pay")
    item = layout.words(line.item)
    dealers = line.on == "dealer" and not layout.has_results
    return views.LineView(
        line=number,
        position=line.position,
        kind=_kind(line.item),
        item=Said("{wager}, dealer's hand", {"wager": item}) if dealers else item,
        hand=hand_words(line.hand or ""),
        amount=line.paid + line.returned,
        state=state,
        act=act,
        source=source,
        payer=payer,
        rule=line.rule,
        why=_why(layout, line),
        percent=line.percent,
        envy_of=line.envy_of or line.hand_of,
    )


def _kind(item: str) -> views.LineKind:
    return "envy" if is_envy(item) or is_envy_share(item) else _DRAWS.get(item, "wager")


def _why(layout: Layout, line: Line) -> list[Said]:
    if part := bad_beat_part(line.item):
        return [*_why_bad_beat(line, part), *_why_by_hand(layout, line)]
    rule = {"rule": line.rule}
    if line.outcome is not Outcome.PAID:
        return [Said("{rule}: the payouts of this wager.", rule)]
    if line.hand == MUST_HIT_BY:
        return [Said("The wager took the meter to its hidden value. The cards do not matter.")]
    validation = layout.validation(line.item)
    stays = {"rule": validation.stays}
    results = layout.has_results
    why = [Said("{rule}: the payout of this hand.", rule)]
    if results:
        why = [Said("{rule}: the payout of this result.", rule)]
    if line.percent:
        rule["percent"] = str(line.percent)
        pays = Said("{rule}: this hand pays {percent}% of the meter.", rule)
        why = [Said("{rule}: this result pays {percent}% of the meter.", rule) if results else pays]
    if line.envy_of is not None:
        of = {"position": line.envy_of}
        why.append(Said("The Envy Bonus is for the hand of position {position}.", of))
    elif line.hand_of is not None:
        of = {"position": line.hand_of}
        why.append(Said("The share of the meter is for the hand of position {position}.", of))
        if is_community_share(line.item):
            why.append(_ALL_DIVIDE)
    elif line.item in _DRAWS:
        why.append(Said("{rule}: credited to the player's game account.", stays))
    else:
        why.append(
            Said("{rule}: the wins that a floorperson validates.", {"rule": validation.rule})
        )
    return [*why, *_why_by_hand(layout, line)]


def _why_bad_beat(line: Line, part: BadBeatPart) -> list[Said]:
    values = {"rule": line.rule, "percent": str(line.percent)}
    return [Said("{rule}: a bad beat pays {percent}% of the meter.", values), _BAD_BEATS[part]]


def _why_by_hand(layout: Layout, line: Line) -> list[Said]:
    if line.paid_from is not PaidFrom.HAND_PAY or layout.has_results:
        return []
    rule = {"rule": layout.validation(line.item).stays}
    return [
        Said("{rule}: not paid at the table; the cards stay until the documents are done.", rule)
    ]


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
