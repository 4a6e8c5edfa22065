"""The parameters of a meter, and proposed changes of a parameter or a balance (duties D3, D15).

One person proposes the new value, and another confirms it. The value must fit every game whose
tables feed the meter, and the other meters of the same wager: the rules are those of the floor
file. Seed, reseed and rates are not parameters: the chapter of the law sets them for each wager
amount and paytable.
"""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Annotated, Final, Literal

import msgspec
import structlog

from bonus.display import money, wager_text
from bonus.json_input import UNREADABLE
from bonus.law import meter_terms
from bonus.law.meter_terms import hand_bonus_return
from bonus.wagers import MICROS_PER_CENT
from meters.acts.act_refusals import ActError
from meters.acts.claim_types import FloorRow, Words
from meters.floor.floor_file import (
    LIMIT_CENTS_MAX,
    WAGER_CENTS_MAX,
    Link,
    Meter,
    Table,
    differing_tables,
    feeding_problem,
    link_problem,
    tier_problem,
)
from meters.ledger.entry_messages import CHANGED, Change
from meters.ledger.money_terms import Parameter

ProposalState = Literal["open", "confirmed", "withdrawn"]

_log = structlog.get_logger()

_BOUNDS: Final = frozenset({"limit", "contribution_max"})
_EVERY_MAX: Final = 1_000_000
_SAID: Final[Mapping[Parameter, str]] = {
    "wager": "the wager",
    "paytable": "the paytable",
    "magic_card_every": "the Magic Card's draw",
    "lucky_every": "the Lucky Bonus' draw",
    "limit": "the limit",
    "contribution_max": "the largest contribution",
}
_OF_TERMS: Final = frozenset({"wager", "paytable"})
_PROPOSE_FILED: Final = "propose the values of the floor file again"
_NEW_METERS: Final = (
    "a proposal changes only one meter, so write new meters with the new terms, each with another"
    " id, into the floor file"
)


class ParameterChange(FloorRow, frozen=True, kw_only=True, tag_field="kind", tag="parameter"):
    """A proposed change of one parameter of a meter.

    Attributes:
        kind: ``parameter``.
        parameter: the parameter to change.
        value: for a paytable, a letter. For a wager, a payout limit or the largest contribution,
            cents; 0 removes the payout limit or the largest contribution. For a draw, the average
            number of rounds per draw; 0 for never.
    """

    meter: str
    parameter: Parameter
    value: int | str
    reason: Words


class Adjustment(FloorRow, frozen=True, kw_only=True, tag_field="kind", tag="adjustment"):
    """An adjustment of a meter after a malfunction or an error (duty D15).

    Attributes:
        kind: ``adjustment``.
        amount: the change of the balance, in cents; negative if the balance falls.
    """

    meter: str
    amount: Annotated[int, msgspec.Meta(ge=-(10**11), le=10**11)]
    reason: Words


class ProposalRow(FloorRow, frozen=True, kw_only=True):
    """A change that one person proposes and another confirms.

    Attributes:
        proposal: the id of the change, which a confirmation names.
        kind: ``adjustment`` for a change of the balance.
        parameter: null for an adjustment.
        before: the value before the change, in words; for an adjustment, the balance when it was
            proposed.
        after: the value after the change, in words; for an adjustment, the amount with its sign.
        amount: the amount of an adjustment, in cents; null for a parameter.
        state: ``open`` while it waits for a confirmation.
        pin_set_by: the people who set the PIN of `by` in the 24 hours before the proposal.
        barred_by: the person who set a PIN that bars the signed-in user from confirming the change
            (duty D4); null if no PIN bars the user.
        barred_until: the time at which this bar ends, in UTC; null if it does not end.
    """

    proposal: str
    link: str
    kind: Literal["parameter", "adjustment"]
    meter: str
    parameter: Parameter | None
    before: str
    after: str
    amount: int | None
    reason: str
    by: str
    at: str
    state: ProposalState
    decided_by: str | None = None
    decided_at: str | None = None
    pin_set_by: tuple[str, ...] = ()
    barred_by: str | None = None
    barred_until: str | None = None


@dataclass(frozen=True)
class LinkParameters:
    """Parameters of a link's meters: `link` has those in force, `filed` those of the floor file."""

    link: Link
    filed: Link

    @property
    def problem(self) -> str | None:
        """Why the link cannot operate with the parameters in force; None if it can."""
        reason = link_problem(self.link)
        return None if reason is None else f"parameters do not fit: {reason}; {_PROPOSE_FILED}"

    def meter(self, meter_id: str) -> Meter:
        """Return a meter with the parameters in force; an `ActError` if the id is unknown."""
        return _meter_of(self.link, meter_id)

    def after(self, meter: Meter) -> Link:
        """Return the link with a changed meter, and with the tables of `differing_tables`."""
        meters = tuple(
            meter if each.meter_id == meter.meter_id else each for each in self.link.meter
        )
        return msgspec.structs.replace(self.link, meter=meters, table=self._tables)

    @cached_property
    def _tables(self) -> tuple[Table, ...]:
        return differing_tables(self.link)

    def changed(self, meter_id: str, parameter: Parameter, value: int | str) -> Meter:
        """Return a meter in which one parameter has a new value.

        Raises:
            ActError: ``unknown_meter``; ``bad_value`` if the law, the meter, a game that feeds the
                meter, or another meter of the same wager does not allow the value; ``no_change`` if
                the parameter already has this value.
        """
        meter = self.meter(meter_id)
        changed = _with_value(meter, parameter, value)
        if changed == meter:
            message = f"{_SAID[parameter]} is the same as now: {words_of(meter, parameter)}"
            raise ActError("no_change", message)
        if wrong := self._wrong(changed, parameter):
            raise ActError("bad_value", wrong)
        return changed

    def paytables(self, meter: Meter) -> tuple[str, ...]:
        """Return a meter's paytable and the others that can be proposed; empty without a choice."""
        if meter.must_hit_by:
            return ()
        letters = {
            letter: None
            for game in meter.fed_in or ("",)
            for letter in meter_terms.paytable_choices(meter.kind, meter.games, game)
        }
        return tuple(
            letter
            for letter in letters
            if letter == meter.paytable or self._allows(meter, "paytable", letter)
        )

    def wagers(self, meter: Meter) -> tuple[int, ...]:
        """Return a meter's wager and the others that can be proposed; empty if all amounts fit."""
        if meter.must_hit_by:
            return ()
        listed = {
            cents
            for game in meter.fed_in or ("",)
            for cents in meter_terms.wager_choices(meter.kind, meter.games, game)
        }
        if not listed and not self._shares_wager(meter):
            return ()
        known = {*listed, meter.wager, _meter_of(self.filed, meter.meter_id).wager}
        return tuple(
            cents
            for cents in sorted(known)
            if cents == meter.wager or self._allows(meter, "wager", cents)
        )

    def _allows(self, meter: Meter, parameter: Parameter, value: int | str) -> bool:
        return self._wrong(_with_value(meter, parameter, value), parameter) is None

    def _wrong(self, changed: Meter, parameter: Parameter) -> str | None:
        """Return why the link cannot have a changed meter; None if it can.

        If the parameters in force do not fit, the floor file's value is always possible, so that
        people can correct the meters one after the other.
        """
        link = self.after(changed)
        if wrong := tier_problem(link):
            wrong = f"{wrong}; {_NEW_METERS}"
        elif not (wrong := feeding_problem(link)):
            return None
        elif parameter in _OF_TERMS and len(changed.fed_in) > 1:
            games = " and ".join(changed.fed_in)
            wrong = f"{wrong}; propose a value that has the same terms in {games}"
        filed = _meter_of(self.filed, changed.meter_id)
        is_filed: bool = getattr(changed, parameter) == getattr(filed, parameter)
        return None if is_filed and self.problem else wrong

    def _shares_wager(self, meter: Meter) -> bool:
        return any(
            meter.kind in wager.fed and len(wager.fed) > 1
            for game in meter.fed_in
            for wager in meter.games[game].wager
        )


def _meter_of(link: Link, meter_id: str) -> Meter:
    for meter in link.meter:
        if meter.meter_id == meter_id:
            return meter
    raise ActError("unknown_meter", f"link {link.id} has no meter {meter_id}")


def _with_value(meter: Meter, parameter: Parameter, value: int | str) -> Meter:
    if parameter == "paytable":
        if meter.must_hit_by:
            raise ActError("bad_value", "a must-hit-by meter has no paytable")
        if not isinstance(value, str):
            raise ActError("bad_value", "a paytable is a letter")
        return msgspec.structs.replace(meter, paytable=value)
    if isinstance(value, str):
        raise ActError("bad_value", f"{parameter} is a whole number")
    said = _SAID[parameter]
    if meter.must_hit_by and parameter != "contribution_max":
        raise ActError("bad_value", f"{said} is not for a must-hit-by meter")
    if parameter == "wager":
        fits = 1 <= value <= WAGER_CENTS_MAX
        rule = f"a wager is {money(1)} to {money(WAGER_CENTS_MAX)}"
    elif parameter in _BOUNDS:
        fits = 0 <= value <= LIMIT_CENTS_MAX
        rule = f"{said} is {money(1)} to {money(LIMIT_CENTS_MAX)}, or 0 for none"
    elif meter.has_draws:
        fits = 0 <= value <= _EVERY_MAX
        rule = f"{said} is once in 1 to {_EVERY_MAX:,} rounds, or 0 for never"
    else:
        fits, rule = False, f"{said} is for a Five Card Hand Bonus only (649a.12(i)(3))"
    if not fits:
        raise ActError("bad_value", rule)
    stored = value or None if parameter in _BOUNDS else value
    return msgspec.structs.replace(meter, **{parameter: stored})


def words_of(meter: Meter, parameter: Parameter) -> str:
    if parameter == "paytable":
        return f"paytable {meter.paytable}"
    value: int | None = getattr(meter, parameter)
    if parameter in {"magic_card_every", "lucky_every"}:
        return f"one round in {value:,}" if value else "never"
    return "none" if value is None else money(value)


def amounts_warning(before: Meter, after: Meter) -> str:
    """Return what another largest wager means for the wagers of a meter with smaller ones.

    The person who confirms the change reads the warning.
    """
    if not after.smaller_wagers or before.wager == after.wager:
        return ""
    parts = (
        f"; then a {wager_text(cents)} wins {cents}/{after.wager} of each percentage of the meter,"
        f" not {cents}/{before.wager}"
        for cents in after.smaller_wagers
    )
    return f"{''.join(parts)}; tables no longer take a {wager_text(before.wager)}"


def return_warning(meter: Meter, positions: int) -> str:
    """Return a warning if bonus draws let players win more than they wager (reading T19).

    The person who confirms the change reads the warning.
    """
    if not (meter.magic_card_every or meter.lucky_every):
        return ""
    back = hand_bonus_return(
        meter.terms,
        magic_card_every=meter.magic_card_every,
        lucky_every=meter.lucky_every,
        positions=positions,
    )
    return f", {back.problem}" if back.problem else ""


def is_adjustable(link: Link, meter: Meter) -> bool:
    """Return whether people may adjust a meter.

    The hidden value of a must-hit-by meter was drawn for the amount that wagers reach. So such a
    meter is adjusted only when no table feeds it any more.
    """
    return not meter.must_hit_by or not any(meter.meter_id in one.meters for one in link.table)


def adjustment(
    proposal: str, by: str, link: Link, meter: Meter, *, held: tuple[int, int], request: Adjustment
) -> Change:
    """Make the record of a proposed adjustment of a meter.

    The record has the amount to add, not a new balance, because wagers can raise the balance before
    the confirmation. `held` is the balance in micros, and the number of the meter's cycle.

    Raises:
        ActError: ``no_change``, ``meter_short``, ``above_limit``; ``bad_value`` for a must-hit-by
            meter that tables feed.
    """
    if meter.must_hit_by and (request.amount > 0 or not is_adjustable(link, meter)):
        raise ActError(
            "bad_value",
            "a must-hit-by meter is adjusted only at its end: take it out of the `meters` of all"
            " tables, then subtract what it holds",
        )
    held_micros, cycle = held
    held_cents = held_micros // MICROS_PER_CENT
    if request.amount == 0:
        raise ActError("no_change", "the amount is 0: nothing would change")
    if held_cents + request.amount < 0:
        raise ActError("meter_short", f"the meter holds only {money(held_cents)}")
    over_micros = held_micros + (request.amount - (meter.limit or 0)) * MICROS_PER_CENT
    if meter.limit and request.amount > 0 and over_micros > 0:
        raise ActError("above_limit", f"the meter's limit is {money(meter.limit)}")
    moved = f"{'+' if request.amount > 0 else '−'}{money(abs(request.amount))}"  # noqa: RUF001
    return Change(
        proposal,
        "adjustment",
        request.meter,
        by,
        money(held_cents),
        moved,
        request.reason,
        amount=request.amount,
        cycle=cycle,
    )


def change_of(fields: Mapping[str, str]) -> Change:
    return CHANGED.decode(fields["record"])


def proposal_rows(link: str, proposals: Iterable[Mapping[str, str]]) -> list[ProposalRow]:
    """Make the rows of proposals. A damaged proposal is only logged: nobody can confirm it."""
    rows = []
    for fields in proposals:
        try:
            rows.append(proposal_row(link, fields))
        except (*UNREADABLE, LookupError) as error:
            _log.error("proposal not readable", link=link, reason=str(error))
    return rows


def proposal_row(link: str, fields: Mapping[str, str]) -> ProposalRow:
    change = change_of(fields)
    return ProposalRow(
        proposal=change.proposal,
        link=link,
        kind=change.kind,
        meter=change.meter,
        parameter=change.parameter,
        before=change.before,
        after=change.after,
        amount=change.amount if change.kind == "adjustment" else None,
        reason=change.reason,
        by=change.by,
        at=fields["at"],
        state=msgspec.convert(fields["state"], ProposalState),
        decided_by=fields.get("decided_by"),
        decided_at=fields.get("decided_at"),
        pin_set_by=change.pin_set_by,
    )
