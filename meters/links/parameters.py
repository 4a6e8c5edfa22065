"""The parameters of a meter, and the change of a parameter by a proposal (duty D3).

One person proposes the new value of a parameter, and another person confirms it.

Seed, reseed and rates are not parameters, because the chapter of the law sets them for each wager
amount and paytable.
"""

from typing import Final

import msgspec

from bonus.display import money
from bonus.odds.hand_bonus_return import hand_bonus_return
from meters.floor.floor_file import (
    LIMIT_CENTS_MAX,
    WAGER_CENTS_MAX,
    Meter,
    limit_problem,
)
from meters.floor_api.errors import ActError
from meters.floor_api.types import Parameter

_BOUNDS: Final = frozenset({"limit", "contribution_max"})
_EVERY_MAX: Final = 1_000_000


def with_parameter(meter: Meter, parameter: Parameter, value: int | str) -> Meter:
    """Return a copy of a meter in which one parameter has a new value.

    Raises:
        ActError: ``bad_value`` if the chapter of the law or the meter does not allow the value;
            ``no_change`` if the parameter already has this value.
    """
    if parameter == "paytable":
        if not isinstance(value, str):
            raise ActError("bad_value", "a paytable is a letter")
        changed = msgspec.structs.replace(meter, paytable=value)
    elif isinstance(value, str):
        raise ActError("bad_value", f"{parameter} is a whole number")
    elif parameter == "wager":
        if not 1 <= value <= WAGER_CENTS_MAX:
            raise ActError("bad_value", f"a wager is 1 to {WAGER_CENTS_MAX} cents")
        changed = msgspec.structs.replace(meter, wager=value)
    elif parameter in _BOUNDS:
        changed = _with_bound(meter, parameter, value)
    else:
        changed = _with_draw(meter, parameter, value)
    if changed == meter:
        raise ActError("no_change", f"{_said(parameter)} is {words_of(meter, parameter)} already")
    try:
        wrong = limit_problem(changed)
    except ValueError as error:
        wrong = str(error)
    if wrong:
        raise ActError("bad_value", wrong)
    return changed


def words_of(meter: Meter, parameter: Parameter) -> str:
    """Return the value of a meter's parameter as text for people."""
    if parameter == "wager":
        return money(meter.wager)
    if parameter == "paytable":
        return f"paytable {meter.paytable}"
    if parameter in _BOUNDS:
        bound = meter.limit if parameter == "limit" else meter.contribution_max
        return "none" if bound is None else money(bound)
    every = meter.magic_card_every if parameter == "magic_card_every" else meter.lucky_every
    return f"one round in {every:,}" if every else "never"


def return_warning(meter: Meter, positions: int) -> str:
    """Return a warning if a meter, because of its bonus draws, pays back more than is wagered.

    The warning is for the person who confirms the change (reading T19). It is empty if the meter,
    on average, does not pay back more than is wagered.
    """
    if not (meter.magic_card_every or meter.lucky_every):
        return ""
    back = hand_bonus_return(
        meter.terms,
        magic_card_every=meter.magic_card_every,
        lucky_every=meter.lucky_every,
        positions=positions,
    )
    tenths = back * 1000 // 1
    return "" if back <= 1 else f", which gives back {tenths // 10}.{tenths % 10}%: the house loses"


def _with_draw(meter: Meter, parameter: Parameter, value: int) -> Meter:
    if not meter.has_draws:
        message = f"{_said(parameter)} is for a Five Card Hand Bonus only (649a.12(i)(3))"
        raise ActError("bad_value", message)
    if not 0 <= value <= _EVERY_MAX:
        message = f"{_said(parameter)} is in one round of 1 to {_EVERY_MAX}, or 0 for never"
        raise ActError("bad_value", message)
    if parameter == "magic_card_every":
        return msgspec.structs.replace(meter, magic_card_every=value)
    return msgspec.structs.replace(meter, lucky_every=value)


def _with_bound(meter: Meter, parameter: Parameter, value: int) -> Meter:
    if not 0 <= value <= LIMIT_CENTS_MAX:
        message = f"{_said(parameter)} is 1 to {LIMIT_CENTS_MAX} cents, or 0 for none"
        raise ActError("bad_value", message)
    if parameter == "limit":
        return msgspec.structs.replace(meter, limit=value or None)
    return msgspec.structs.replace(meter, contribution_max=value or None)


def _said(parameter: Parameter) -> str:
    return {
        "wager": "the wager",
        "paytable": "the paytable",
        "magic_card_every": "the Magic Card's draw",
        "lucky_every": "the Lucky Bonus' draw",
        "limit": "the limit",
        "contribution_max": "the largest contribution",
    }[parameter]
