"""The transfers of wins, calculated from results, decisions and requests (duty D4).

Two people reject a large win, or reopen a rejected win: one person requests the act, and another
confirms it.
"""

from collections.abc import Iterable, Sequence
from dataclasses import replace
from fractions import Fraction

import msgspec

from bonus.rounds import Line, cause_of, is_divided, percent_won
from bonus.wagers import MICROS_PER_CENT, Percent, is_community_share, part_of_percent, read_percent
from meters.ledger.accounts import (
    ENVY,
    HOUSE,
    PAID,
    Transfer,
    claim_account,
    envy_account,
    meter_account,
    overflow_account,
    reserve_account,
)
from meters.ledger.entry_messages import DecisionRecord, SettledReply
from meters.ledger.expected_transfers import (
    Draft,
    EnvyBonus,
    ExpectedBooks,
    HeldEnvy,
    HeldWin,
    RejectedWin,
    Requested,
)
from meters.wire.messages import PartElsewhere, Reply, parts_elsewhere


def result_moved(
    books: ExpectedBooks, table: str, settled: SettledReply, moved: Sequence[Transfer] = ()
) -> Draft:
    """Return the transfers that the result of a round must cause.

    The settlement lines are calculated one after the other. A percentage is calculated from the
    meter balance that the earlier lines leave, but all percentages that one hand wins of a meter
    are of the same balance. `books` are the books before the result, and `moved` are the transfers
    of the ledger entry. If no win of a hand waits for a floorperson, these transfers show to which
    account each Envy Bonus of the hand went.

    Raises:
        KeyError: the table has no open round, or the round did not contribute to a line's meter.
    """
    round_added, draft = books.rounds.pop(table), Draft(books)
    books.tallies["rounds"] += 1
    reply, lines = settled.reply, settled.paid
    if not lines:
        return draft
    meters = books.meters_by_item(added.meter for added in round_added)
    claims = {(one.position, one.item, one.hand_of): one for one in reply.claims or ()}
    percentages = _Percentages(books, draft, settled)
    envy = _EnvyPayees(f".{table}-{reply.seq}-e", reply, moved)
    for line in lines:
        meter = meters[line.item]
        claim = claims.get((line.position, line.item, line.hand_of))
        owed = False
        if line.percent:
            _hold_shares(books, draft, line, meter, percentages.move(line, meter))
        else:
            payee = claim_account(claim.claim) if claim else PAID
            if line.envy_of is not None:
                payee = envy.payee(line, meter)
                owed = payee != PAID
            draft.move(HOUSE, payee, line.paid * MICROS_PER_CENT, books.cycles[meter])
        _count_win(books.tallies, meter, line, claimed=claim is not None, owed=owed)
        if claim:
            if claim.amount != line.paid:
                message = f"claim {claim.claim} is of {claim.amount} cents, not {line.paid}"
                draft.faults.append(message)
            hand_pay = line.paid_from == "hand_pay"
            after_cents = draft.holds(meter_account(meter)) // MICROS_PER_CENT
            books.claims[claim.claim] = HeldWin(
                meter, line.paid, bool(line.percent), hand_pay, after_cents=after_cents
            )
    percentages.note_left()
    for name, held in envy.held.items():
        after_cents = draft.holds(meter_account(held.bonuses[0].meter)) // MICROS_PER_CENT
        books.envy[name] = replace(held, after_cents=after_cents)
    return draft


def _hold_shares(
    books: ExpectedBooks, draft: Draft, line: Line, meter: str, shares: Iterable[PartElsewhere]
) -> None:
    """Add the parts of a community share for players at other tables. `line` is one at this."""
    after_cents = draft.holds(meter_account(meter)) // MICROS_PER_CENT
    for share in shares:
        part = msgspec.structs.replace(line, paid=share.amount)
        _count_win(books.tallies, meter, part, claimed=True, owed=False)
        books.claims[share.claim] = HeldWin(
            meter, share.amount, percent=True, hand_pay=True,
            after_cents=after_cents, table=share.table,
        )  # fmt: skip


def envy_of_result(books: ExpectedBooks, table: str, seq: int) -> dict[str, HeldEnvy]:
    """Return the Envy Bonuses that a table's last replayed result (event `seq`) owes, by claim."""
    own = f"{table}-{seq}"
    return {
        claim: held
        for claim, held in books.envy.items()
        if claim.partition(".")[2].rsplit("-", 1)[0] == own
    }


class _Percentages:
    """The percentages of meters that a result wins.

    `_of_hand` has what each hand or a bad beat (`Line.balance_of`) wins of a meter: the balance of
    the meter at its turn, the percentages so far, and the first of them. `_firsts` has for each
    percentage the first one of its hand, and `_left_cents` has the balance after the last one.
    """

    def __init__(self, books: ExpectedBooks, draft: Draft, settled: SettledReply) -> None:
        self._books = books
        self._draft = draft
        self._lines = settled.paid
        self._claims = {
            (one.position, one.item, one.hand_of): one.claim for one in settled.reply.claims or ()
        }
        self._on_link = parts_elsewhere(settled.reply)
        self._moved: set[str] = set()
        self._of_hand: dict[tuple[str, str], tuple[int, Percent, str]] = {}
        self._firsts: dict[str, str] = {}
        self._left_cents: dict[str, int] = {}

    def elsewhere(self, line: Line) -> list[PartElsewhere]:
        """Return the parts of a line's percentage for players at other tables of the link."""
        shared = is_community_share(line.item)
        of = line.item, line.hand_of
        return [one for one in self._on_link if shared and (one.item, one.hand_of) == of]

    def move(self, line: Line, meter: str) -> list[PartElsewhere]:
        """Add the transfers of a line's percentage, unless an earlier line shares it.

        Return its parts for players at other tables.

        Raises:
            KeyError: a line has no claim.
        """
        take, draft = _take_of(line), self._draft
        if take in self._moved:
            return []
        self._moved.add(take)
        alike = [one for one in self._lines if _take_of(one) == take]
        payees = [claim_account(self._claims[one.position, one.item, one.hand_of]) for one in alike]
        elsewhere = self.elsewhere(line)
        payees += [claim_account(one.claim) for one in elsewhere]
        # Players with different amounts divide a percentage too: there is one for each amount.
        divide = _shared_of(line)
        players = len(elsewhere) + sum(1 for one in self._lines if _shared_of(one) == divide)
        key, new = (line.balance_of, meter), (draft.holds(meter_account(meter)), 0, take)
        earlier = self._of_hand.get(key, new) if line.can_continue else new
        balance_micros, before, first = earlier
        percent = percent_won(line)
        after = before + Fraction(percent) * len(payees) / players
        self._of_hand[key], self._firsts[take] = (balance_micros, after, first), first
        share = balance_micros * percent // (100 * MICROS_PER_CENT) // players
        for payee in payees:
            cycle = self._books.cycles[meter]
            draft.move(meter_account(meter), payee, share * MICROS_PER_CENT, cycle)
        _after_percentage(self._books, draft, meter, whole=after == 100)
        draft.faults += self._wrong_part(line, meter)
        if first != take:
            self._left_cents[first] = draft.holds(meter_account(meter)) // MICROS_PER_CENT
        paid = [*(one.paid for one in alike), *(one.amount for one in elsewhere)]
        if any(cents != share for cents in paid):
            message = ", ".join(map(str, paid))
            draft.faults.append(f"{line.percent}% of {meter} was {share} cents, not {message}")
        return elsewhere

    def _wrong_part(self, line: Line, meter: str) -> list[str]:
        """Check that wagers of different amounts win their approved part of the meter."""
        terms, names = self._books.terms[meter], self._books.approved.meters.get(meter)
        if not terms.smaller_wagers or names is None:
            return []
        for whole in map(read_percent, names.percents.get(f"{line.item} {line.hand}", ())):
            if part_of_percent(whole, line.wagered, terms.wager_cents) == percent_won(line):
                return []
        return [
            f"{line.percent}% of {meter} is not what {line.hand} wins with {line.wagered} cents"
        ]

    def note_left(self) -> None:
        """Give all wins of a hand that wins several percentages the meter after the last of them.

        Raises:
            KeyError: a line has no claim.
        """
        claims = self._books.claims
        for line in self._lines:
            left_cents = self._left_cents.get(self._firsts.get(_take_of(line), ""))
            if left_cents is None:
                continue
            own = self._claims[line.position, line.item, line.hand_of]
            for claim in (own, *(one.claim for one in self.elsewhere(line))):
                claims[claim] = replace(claims[claim], after_cents=left_cents)


class _EnvyPayees:
    """The accounts to which a result's Envy Bonuses go. `held` are the bonuses that are owed."""

    def __init__(self, own: str, reply: Reply, moved: Sequence[Transfer]) -> None:
        self.held: dict[str, HeldEnvy] = {}
        self._own = own
        self._claims = reply.claims or ()
        self._lines = reply.lines or ()
        self._moved = moved

    def payee(self, line: Line, meter: str) -> str:
        """Return the account that receives an Envy Bonus. Add the bonus to `held` if it is owed."""
        claim, state = self._claim(line)
        if not claim:
            return PAID
        bonus = EnvyBonus(
            line.position, line.envy_of or 0, line.item, line.hand or "", meter, line.paid
        )
        before = self.held.get(claim, HeldEnvy(state, ()))
        self.held[claim] = replace(before, bonuses=(*before.bonuses, bonus))
        return envy_account(claim)

    def _claim(self, line: Line) -> tuple[str, str]:
        """Return an Envy Bonus's claim and first state, or two empty texts if it counts as paid."""
        cause = cause_of(line, self._claims, self._lines)
        if cause is not None:
            return self._claims[cause].claim, "pending"
        ending, due = f"{self._own}{line.envy_of}", line.paid * MICROS_PER_CENT
        for one in self._moved:
            # An Envy Bonus below `validate_from` in the floor file is recorded as paid. The present
            # floor file can have another `validate_from`, but the entry shows which bonuses were
            # owed.
            paid_to = one.target
            if paid_to.startswith(ENVY) and paid_to.endswith(ending) and one.micros == due:
                return paid_to.removeprefix(ENVY), "validated"
        return "", ""


def claim_moved(
    books: ExpectedBooks, kind: str, by: str, decided: DecisionRecord, entry: int
) -> Draft:
    """Return the transfers of an act on a claim. The act is the ledger entry `entry`.

    Raises:
        KeyError: the books do not have the waiting win, rejected win or Envy Bonuses that the act
            decides. Any other wrong state is one of the draft's `faults`.
    """
    claim, faults = decided.claim, list[str]()
    match kind:
        case "pay_envy" | "reject_envy":
            return _envy_moved(books, kind, claim)
        case "request_reject" | "request_reopen":
            return _request_moved(books, kind, claim, by, entry)
        case "withdraw_request":
            return _withdrawn_moved(books, claim, decided.request)
        case "reopen":
            return _reopened_moved(books, claim, by, decided.request)
        case "correct_slip":
            return Draft(books)
        case "reject":
            faults = _reject_faults(books, claim, by, decided.request)
    due = _decision_moved(books, decided, by)
    due.faults += faults
    return due


def _decision_moved(books: ExpectedBooks, decided: DecisionRecord, by: str) -> Draft:
    """Return a decision's transfers; the person who validated a win must not pay it (duty D4)."""
    claim_id, act, envy_back = decided.claim, decided.act, decided.envy_back
    claim, draft = books.claims.pop(claim_id), Draft(books)
    if claim.state != ("validated" if act == "pay" else "pending"):
        draft.faults.append(f"{act} of claim {claim_id}, which is {claim.state}")
    if act == "pay" and claim.by == by:
        draft.faults.append(f"one person, {by}, validated and paid claim {claim_id}")
    account, cycle = claim_account(claim_id), books.cycles[claim.meter]
    micros, tallies = claim.cents * MICROS_PER_CENT, books.tallies
    books.requests.pop(claim_id, None)
    of_house = books.house_paid.pop(claim_id, 0)
    if act == "reject":
        to_house = of_house if claim.percent else micros
        draft.move(account, HOUSE, to_house, cycle)
        if books.terms[claim.meter].must_hit_by:
            # More on the meter could take it to its hidden value, and no wager would win it.
            draft.move(account, reserve_account(claim.meter), micros - to_house, cycle)
        else:
            draft.fill(account, claim.meter, micros - to_house, cycle)
        tallies[f"rejected:{claim.meter}"] += 1
        tallies[f"rejected_cents:{claim.meter}"] += claim.cents
        taken_back = books.envy.get(claim_id) if envy_back else None
        moved = {one.target: one.micros for one in draft.transfers}
        to_meter = moved.get(meter_account(claim.meter), 0)
        to_overflow = moved.get(_waiting_account(books, claim.meter), 0)
        there = books.terms[claim.meter].overflow_to if to_overflow else ""
        passed = there, books.cycles[there] if there else 0
        books.rejected[claim_id] = RejectedWin(
            claim, taken_back, to_meter, to_overflow, cycle, *passed
        )
    elif claim.hand_pay and act == "validate":
        books.claims[claim_id] = replace(claim, state="validated", by=by)
    else:
        draft.move(account, PAID, micros, cycle)
        how = "hand_paid_cents" if claim.hand_pay else "table_paid_cents"
        tallies[f"{how}:{claim.meter}"] += claim.cents
    if claim_id in books.envy:
        _decide_envy(books, draft, decided, by)
    elif envy_back or decided.envy_paid:
        draft.faults.append(f"no Envy Bonus was owed for claim {claim_id}")
    return draft


def _decide_envy(books: ExpectedBooks, draft: Draft, decided: DecisionRecord, by: str) -> None:
    claim_id, back_cents, paid_cents = decided.claim, decided.envy_back, decided.envy_paid
    envy = books.envy[claim_id]
    if not (back_cents or paid_cents):
        if envy.state == "pending":
            books.envy[claim_id] = replace(envy, state="validated", by=by)
        return
    if back_cents + paid_cents != envy.cents:
        message = f"are {envy.cents} cents, not {back_cents + paid_cents}"
        draft.faults.append(f"the Envy Bonuses of claim {claim_id} {message}")
    if envy.state != ("validated" if paid_cents else "pending"):
        draft.faults.append(f"the Envy Bonuses of claim {claim_id} are already {envy.state}")
    _settle_envy(books, draft, claim_id, paid=bool(paid_cents))


def _envy_moved(books: ExpectedBooks, act: str, claim_id: str) -> Draft:
    draft = Draft(books)
    if (state := books.envy[claim_id].state) != "validated":
        draft.faults.append(f"{act} of the Envy Bonuses of claim {claim_id}, which are {state}")
    if act == "reject_envy" and (was := books.rejected.get(claim_id)):
        books.rejected[claim_id] = replace(was, envy=books.envy[claim_id])
    _settle_envy(books, draft, claim_id, paid=act == "pay_envy")
    return draft


def _settle_envy(books: ExpectedBooks, draft: Draft, claim_id: str, *, paid: bool) -> None:
    for meter, of_meter in books.envy.pop(claim_id).cents_by_meter.items():
        target, how = (PAID, "table_paid_cents") if paid else (HOUSE, "envy_taken_back_cents")
        micros = of_meter * MICROS_PER_CENT
        draft.move(envy_account(claim_id), target, micros, books.cycles[meter])
        books.tallies[f"{how}:{meter}"] += of_meter


def _reject_faults(books: ExpectedBooks, claim_id: str, by: str, request: int) -> list[str]:
    """Check that the right people rejected a win. Return the errors as texts.

    Two people must reject a win above an amount in the floor file. `books` are the books before the
    rejection. `request` is the number of the ledger entry with the confirmed request, or 0 if one
    person rejected the win.

    Raises:
        KeyError: the claim does not wait.
    """
    if request:
        return _request_faults(
            "request_reject", claim_id, by, books.requests.get(claim_id), request
        )
    least, claim = books.approved.facility.two_people_reject_above, books.claims[claim_id]
    if least is not None and claim.cents > least:
        return [f"{by} alone rejected claim {claim_id}, which is above {least} cents"]
    return []


def _request_faults(
    act: str, claim_id: str, by: str, requested: Requested | None, request: int
) -> list[str]:
    if requested is None or (requested.entry, requested.act) != (request, act):
        return [f"entry {request} is no {act} of claim {claim_id} on this gaming day"]
    if requested.by == by:
        return [f"one person, {by}, made and confirmed the {act} of claim {claim_id}"]
    return []


def _request_moved(books: ExpectedBooks, act: str, claim_id: str, by: str, entry: int) -> Draft:
    """Check a request about a claim, and note it: a request moves no money."""
    draft = Draft(books)
    if act == "request_reject":
        if (state := books.claims[claim_id].state) != "pending":
            draft.faults.append(f"{act} of claim {claim_id}, which is {state}")
    else:
        _ = books.rejected[claim_id]
    books.requests[claim_id] = Requested(entry, act, by)
    return draft


def _waiting_account(books: ExpectedBooks, meter: str) -> str:
    """Return the account in which the amount of a rejected win waits if the meter cannot take it.

    For a must-hit-by meter this is the reserve, which the next cycles get.
    """
    of = reserve_account if books.terms[meter].must_hit_by else overflow_account
    return of(meter)


def _withdrawn_moved(books: ExpectedBooks, claim_id: str, request: int) -> Draft:
    """Forget a request about a claim. A request that has lapsed can be withdrawn too."""
    draft, requested = Draft(books), books.requests.pop(claim_id, None)
    if requested and requested.entry != request:
        draft.faults.append(f"entry {request} is not the request about claim {claim_id}")
    return draft


def _reopened_moved(books: ExpectedBooks, claim_id: str, by: str, request: int) -> Draft:
    """Return the transfers that reopen a rejected win.

    The amount comes back from where the rejection moved it: first from the meter's overflow, then
    from the meter, and the house pays what is missing. A part that went on to another meter comes
    back from that meter and its overflow. If the whole meter was won after the rejection, the house
    pays all; what a must-hit-by win gave to the reserve can still be there. The meter never falls
    below the lower of two amounts: its reseed, and its balance after the win. Envy Bonuses that are
    not paid wait again for the decision.

    Raises:
        KeyError: the claim was not rejected on the open gaming day.
    """
    was, draft = books.rejected.pop(claim_id), Draft(books)
    requested = books.requests.pop(claim_id, None)
    draft.faults += _request_faults("request_reopen", claim_id, by, requested, request)
    win, account = was.win, claim_account(claim_id)
    cycle, micros = books.cycles[win.meter], win.cents * MICROS_PER_CENT
    meter, overflow = meter_account(win.meter), _waiting_account(books, win.meter)
    off_meter = off_overflow = passed = 0
    there = was.passed_to
    if there and books.cycles[there] == was.passed_cycle:
        passed = was.overflow_micros
    if books.terms[win.meter].must_hit_by:
        off_overflow = min(was.overflow_micros, draft.holds(overflow))
    elif win.percent and cycle == was.cycle:
        least_cents = min(books.terms[win.meter].reseed_cents, win.after_cents)
        room = max(0, draft.holds(meter) - least_cents * MICROS_PER_CENT)
        back = was.meter_micros + (0 if there else was.overflow_micros)
        off_overflow = min(back, draft.holds(overflow))
        off_meter = min(back - off_overflow, room)
    draft.move(meter, account, off_meter, cycle)
    draft.move(overflow, account, off_overflow, cycle)
    from_there = 0
    for there_account in (overflow_account(there), meter_account(there)) if passed else ():
        off = min(passed - from_there, draft.holds(there_account))
        draft.move(there_account, account, off, was.passed_cycle)
        from_there += off
    if of_house := micros - off_meter - off_overflow - from_there:
        draft.move(HOUSE, account, of_house, cycle)
        books.house_paid[claim_id] = of_house
    tallies = books.tallies
    if was.envy:
        for of, of_meter in was.envy.cents_by_meter.items():
            draft.move(HOUSE, envy_account(claim_id), of_meter * MICROS_PER_CENT, books.cycles[of])
            tallies[f"envy_reopened_cents:{of}"] += of_meter
        books.envy[claim_id] = replace(was.envy, state="pending", by=by)
    elif owed := books.envy.get(claim_id):
        books.envy[claim_id] = replace(owed, state="pending", by=by)
    tallies[f"reopened:{win.meter}"] += 1
    tallies[f"reopened_cents:{win.meter}"] += win.cents
    books.claims[claim_id] = replace(win, state="pending", by=by)
    return draft


def _take_of(line: Line) -> str:
    """Return a name for the percentage that a settlement line pays, or an empty text.

    Lines with the same name share one percentage, such as all lines for the dealer's hand (reading
    T17).
    """
    if not line.percent:
        return ""
    return f"{_shared_of(line)} at {line.wagered}"


def _shared_of(line: Line) -> str:
    """Return a name for what lines with different amounts divide, or an empty text."""
    if not line.percent:
        return ""
    of = line.item if is_divided(line) else f"{line.item} of {line.position}"
    return of if line.hand_of is None else f"{of} for {line.hand_of}"


def _after_percentage(books: ExpectedBooks, draft: Draft, meter: str, *, whole: bool) -> None:
    """Add the transfers that follow a percentage of a meter to `draft`.

    If the hand has won the `whole` meter, reseed the meter. Then, for any percentage, refill the
    meter from its overflow.
    """
    terms = books.terms[meter]
    if whole:
        books.cycles[meter] += 1
        cycle, reserve = books.cycles[meter], reserve_account(meter)
        if terms.has_reserve:
            draft.fill(reserve, meter, draft.holds(reserve), cycle)
        if terms.reseed_cents:
            draft.fill(HOUSE, meter, terms.reseed_cents * MICROS_PER_CENT, cycle)
    draft.refill(meter, books.cycles[meter])


def _count_win(
    tallies: dict[str, int], meter: str, line: Line, *, claimed: bool, owed: bool
) -> None:
    tallies["wins"] += 1
    tallies["won_cents"] += line.paid
    tallies[f"wins:{meter}"] += 1
    tallies[f"won_cents:{meter}"] += line.paid
    if line.percent:
        tallies[f"hits:{meter}"] += 1
    if owed:
        tallies[f"envy_owed_cents:{meter}"] += line.paid
    elif not claimed:
        tallies[f"table_paid_cents:{meter}"] += line.paid
