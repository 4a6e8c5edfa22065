"""Decisions on wins and Envy Bonuses, and rejected wins that are reopened and wait again."""

from collections.abc import Iterable, Iterator

from msgspec.structs import replace

from bonus.rounds import Line, Outcome, written_percent
from bonus.settling.progressives_and_envy import percent_of_item, rule_of_item
from bonus.wagers import LUCKY_BONUS, MAGIC_CARD, MUST_HIT_BY, PaidFrom
from controllers.table.open_settlements import change_settlements, claim_under
from controllers.table.state import (
    FINAL,
    Decision,
    EnvyDecision,
    Layout,
    Phase,
    SettledRound,
    TableState,
)
from meters.wire.messages import ClaimOpened, Jackpot, envy_claim_name, envy_owed_under, holds_table


def hear_win(layout: Layout, state: TableState, jackpot: Jackpot) -> TableState:
    """Apply a message about a win or an Envy Bonus: a decision, or a reopened win."""
    if (envy_claim := envy_owed_under(jackpot.claim)) is not None:
        return _hear_envy(state, jackpot, envy_claim)
    if _is_reopened(layout, state, jackpot):
        state = _reopen(layout, state, jackpot)
    return state if jackpot.event == "hit" else decide(state, jackpot.claim, jackpot.event)


def decide(state: TableState, claim: str, event: Decision) -> TableState:
    """Apply a floorperson's decision on a claim of any round in the table's state.

    When the last hand pay that held the table is paid or rejected, the table opens again. A
    repeated or late decision changes nothing (649a.11(c)(5)(iii), (iv)).
    """
    state = change_settlements(state, lambda settled: settled.with_decision(claim, event))
    if claim not in state.held or event not in FINAL:
        return state
    held = tuple(waiting for waiting in state.held if waiting != claim)
    if held:
        return replace(state, held=held)
    phase = Phase.OPEN if state.phase is Phase.HELD else state.phase
    return replace(state, held=(), hold=None, phase=phase)


def _hear_envy(state: TableState, jackpot: Jackpot, claim: str) -> TableState:
    """Apply the service's message about an Envy Bonus; `claim` is the win that caused the bonus.

    If the message says that the bonus is paid or not due, the dealer must not pay it. A round
    without open lines disappears from the panel.
    """

    def hear(settled: SettledRound) -> SettledRound:
        line = _envy_line(settled, claim, jackpot.position, jackpot.item)
        if line is None or jackpot.event == "hit":
            return settled
        known = settled.envy_decision_on(line)
        # The message that an Envy Bonus is owed can come late, from another service or after a
        # restore. An Envy Bonus that was paid must not become due again.
        if known is not None and jackpot.event in {known, "validated"}:
            return settled
        others = (each for each in settled.envy if each.line != line)
        return replace(settled, envy=(*others, EnvyDecision(line, jackpot.event)))

    return change_settlements(state, hear)


def _envy_line(settled: SettledRound, claim: str, position: int, item: str) -> int | None:
    for number, line in enumerate(settled.lines):
        if line.envy_of is None or (line.position, line.item) != (position, item):
            continue
        under = claim_under(settled, line)
        # Only the end of the claim's name is compared: the message is always for this table.
        alone = claim.endswith(envy_claim_name(f"-{settled.seq}", line.envy_of))
        if alone if under is None else under.claim == claim:
            return number
    return None


def _is_reopened(layout: Layout, state: TableState, jackpot: Jackpot) -> bool:
    """Check if the last decision on a win was ``rejected``, and the message says something else.

    Such a message reopens the win. The table forgets old rounds. If the table has forgotten the
    win, and the win does not hold the table, either of two messages reopens the win. One is a
    ``hit``: the first ``hit`` comes at the time of the round, so this ``hit`` is a later one. The
    other is a ``validated`` for a hand pay: the hand pay is not paid yet, so the table has missed
    the ``hit`` that reopened the win.
    """
    claim = jackpot.claim
    for settled in _settlements(state):
        if settled.opened(claim):
            return settled.decision_on(claim) == "rejected" and jackpot.event != "rejected"
    if claim in state.held:
        return False
    if jackpot.event == "validated":
        line = _line(layout, jackpot)
        return line is not None and holds_table(line.paid_from)
    return jackpot.event == "hit"


def _reopen(layout: Layout, state: TableState, jackpot: Jackpot) -> TableState:
    """Let a win wait again. For a hand pay, hold the table (649a.11(c)(5)(iv)).

    The round of the win comes back on the panel. If betting is open, the table is held now. Wagers
    whose lights are on stay accepted, and are sent at lock-out, after the hold. If a round is in
    progress, its wagers are already in the meters, so the table is held after this round.
    """
    claim = jackpot.claim
    state = change_settlements(state, lambda settled: _without_rejection(settled, claim))
    found = next((each for each in _settlements(state) if each.opened(claim)), None)
    own = found and next(
        (
            line
            for line in found.lines
            if line.envy_of is None
            and (under := claim_under(found, line)) is not None
            and under.claim == claim
        ),
        None,
    )
    line = own or _line(layout, jackpot)
    if line is None:
        return state
    if found is None:
        # A settlement with only this win, whose round is named after the claim.
        opened = ClaimOpened(claim=claim, position=line.position, item=line.item, amount=line.paid)
        found = SettledRound(round=claim, lines=(line,), claims=(opened,))
    if found not in (state.settled, state.hold, *state.waiting):
        state = replace(state, waiting=(*state.waiting, found))
    if claim in state.held or not _holds_table(line):
        return state
    phase = Phase.HELD if state.phase is Phase.OPEN else state.phase
    return replace(state, held=(*state.held, claim), phase=phase)


def must_hit_by_won(state: TableState, claims: Iterable[ClaimOpened]) -> TableState:
    """Show the wins of must-hit-by meters; each is a settlement of its own.

    The round goes on: no cards need to stay on the table.
    """
    for claim in claims:
        if not any(settled.opened(claim.claim) for settled in _settlements(state)):
            line = _must_hit_by_line(claim.position, claim.item, claim.amount)
            # The round's own settlement has the name of the round.
            won = SettledRound(round=claim.claim, lines=(line,), claims=(claim,))
            state = replace(state, waiting=(*state.waiting, won))
    return state


def _must_hit_by_line(position: int, item: str, cents: int) -> Line:
    return Line(
        position=position,
        item=item,
        outcome=Outcome.PAID,
        hand=MUST_HIT_BY,
        wagered=0,
        paid=cents,
        returned=0,
        paid_from=PaidFrom.HAND_PAY,
        percent=100,
        rule="",
    )


def _holds_table(line: Line) -> bool:
    return holds_table(line.paid_from) and line.hand != MUST_HIT_BY


def _settlements(state: TableState) -> Iterator[SettledRound]:
    for settled in (state.settled, *state.waiting, state.hold, state.last_settled):
        if settled is not None:
            yield settled


def _without_rejection(settled: SettledRound, claim: str) -> SettledRound:
    """Return the settlement with a rejected win undecided again.

    The dealer can have acknowledged the rejection. So the win's lines count as not completed, and
    its unpaid Envy Bonuses wait again. But an Envy Bonus that was still due stays completed if the
    dealer has completed it, so that nobody pays it twice.
    """
    if settled.decision_on(claim) != "rejected":
        return settled
    own = {
        number
        for number, line in enumerate(settled.lines)
        if (under := claim_under(settled, line)) is not None and under.claim == claim
    }
    paid = {each.line for each in settled.envy if each.event == "paid"}
    envy_due = {
        number
        for number in own
        if settled.lines[number].envy_of is not None
        and settled.envy_decision_on(number) != "rejected"
    }
    return replace(
        settled,
        decided=tuple(each for each in settled.decided if each.claim != claim),
        envy=tuple(each for each in settled.envy if each.line not in own - paid),
        done=tuple(number for number in settled.done if number not in own - envy_due),
    )


def _line(layout: Layout, jackpot: Jackpot) -> Line | None:
    """Return the settlement line of a win whose round the table has forgotten.

    The message has some fields of the line; the others follow from the terms of the meter. Return
    None if the table does not have this meter. If the wager can have several amounts, nothing tells
    which one it had, so the line has neither amount nor percentage.
    """
    if jackpot.hand == MUST_HIT_BY:
        return _must_hit_by_line(jackpot.position, jackpot.item, jackpot.amount)
    terms = layout.terms.get(layout.rules.meters.meter_of.get(jackpot.item, ""))
    if terms is None:
        return None
    row = next((row for row in terms.rows.values() if row.hand == jackpot.hand), None)
    is_draw = jackpot.item in {MAGIC_CARD, LUCKY_BONUS}
    percent = 0 if is_draw or row is None else percent_of_item(jackpot.item, row, terms)
    return Line(
        position=jackpot.position,
        item=jackpot.item,
        outcome=Outcome.PAID,
        hand=jackpot.hand or None,
        wagered=0 if terms.smaller_wagers else terms.wager_cents,
        paid=jackpot.amount,
        returned=0,
        paid_from=PaidFrom.HAND_PAY if percent else terms.paid_from,
        percent=written_percent(percent) if percent and not terms.smaller_wagers else None,
        rule=terms.draw_rule if is_draw else rule_of_item(jackpot.item, terms),
    )
