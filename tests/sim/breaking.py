"""Deliberate defects in the code: a simulation that does not find them proves nothing."""

import importlib
import inspect
import textwrap
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final

import meters.books.claim_changes
import meters.books.store
from meters.books.script_loader import load_script

SCRIPT_LOADERS: Final = (meters.books.store, meters.books.claim_changes)
"""The modules that load the scripts in which defects are put."""


@dataclass(frozen=True, slots=True)
class Defect:
    """One line of the code and its replacement."""

    place: str
    line: str
    instead: str


DEFECTS: Final[Mapping[str, tuple[Defect, ...]]] = {
    "a repeat is counted again": (
        Defect("apply_events", "if seq <= at[TABLE_LAST] then", "if seq < at[TABLE_LAST] then"),
    ),
    "no reply is kept": (Defect("apply_events", "exact(seq) .. ' ' .. digest .. reply", "'1'"),),
    "a copy in the same batch is refused": (
        Defect(
            "apply_events",
            "text = text or redis.call('HGET', REPLIES, field)",
            "text = redis.call('HGET', REPLIES, field)",
        ),
    ),
    "a result rests on any round of that name": (
        Defect("apply_events", "if basis and basis ~= at[TABLE_BASIS] then", "if false then"),
    ),
    "what the store failed to do is answered as done": (
        Defect(
            "meters.intake.batches:LinkIntake._apply",
            "answers = await self._store.apply(steps, texts, keys)",
            "try:\n        answers = await self._store.apply(steps, texts, keys)\n"
            "    except Exception:\n"
            "        answers = [ScriptAnswer(Status.ACCEPTED) for _ in judged]",
        ),
    ),
    "the outbox is not synced": (
        Defect("controllers.agent.outbox:Outbox.write_event", '"FULL"', '"OFF"'),
    ),
    "an event is published before it is written": (
        Defect(
            "controllers.agent.table_writer:TableWriter._write_step",
            "payload = encode_money_event(step.send)",
            "payload = encode_money_event(step.send)\n"
            "        await asyncio.wait({asyncio.ensure_future("
            "self._deliver(step.send.seq, payload))}, timeout=0.1)",
        ),
    ),
    "any reply is taken for the one awaited": (
        Defect(
            "controllers.agent.delivery:EventDelivery._hear_reply",
            "under_way.seq != reply.seq",
            "reply.seq is None",
        ),
    ),
    "a void changes a meter, and not its version": (
        Defect(
            "apply_events",
            "  touch_meter(meter)\n  tally('voided_wagers:'",
            "  tally('voided_wagers:'",
        ),
    ),
    "an old value is shown": (
        Defect(
            "controllers.agent.meter_values:MeterValues.hear",
            "value.version < last.version",
            "False",
        ),
        Defect(
            "controllers.agent.meter_values:MeterValues.hear",
            "(value.version, value.at) < (last.version, last.at)",
            "False",
        ),
    ),
    "a confirmation serves for another correction": (
        Defect(
            "apply_events",
            "if string.sub(ask.text, 1, #named) ~= named then",
            "if ask.text == '' then",
        ),
    ),
    "a claim is decided twice": (
        Defect("decide_claim", "claim['state'] ~= needed", "claim['state'] == 'rejected'"),
    ),
    "a refused decision is not reported as one": (
        Defect(
            "meters.claims.claims:Claims._carry",
            "with refusals(record, act, decision.by):",
            "if True:",
        ),
    ),
    "one person rejects a large win": (
        Defect("meters.claims.claims:Claims.decide", "confirms is None and", "False and"),
    ),
    "one person confirms the request that they made": (
        Defect(
            "decide_claim",
            "who, setter = one_person(claim['request_by'], claim['request'], BY, SETTERS)",
            "who = nil",
        ),
    ),
    "a request does not lapse": (
        Defect(
            "decide_claim",
            "claim['request_entry'] == entry and is_of_open_day(entry)",
            "claim['request_entry'] == entry",
        ),
    ),
    "a win is reopened after its day was closed": (
        Defect(
            "request_claim",
            "if not rejection or not is_of_open_day(rejection) then",
            "if not rejection then",
        ),
    ),
    "a reopened win is taken from a meter that was won since": (
        Defect("reopen_claim", "if percent and cycle == now then", "if percent then"),
    ),
    "a reopened win takes the reseed of the meter": (
        Defect(
            "reopen_claim",
            "off_overflow, math.max(0, balance(meter) - least))",
            "off_overflow, balance(meter))",
        ),
    ),
    "a reopened hand pay does not hold its table": (
        Defect("reopen_claim", "if HOLD ~= '' then", "if false then"),
    ),
    "Envy Bonuses of a reopened win are taken back although they are decided": (
        Defect(
            "decide_claim",
            "local envy_needed = ACT == 'pay' and 'validated' or 'pending'",
            "local envy_needed = envy",
        ),
    ),
    "a corrected slip number is not kept": (
        Defect("correct_slip", "redis.call('HSET', SLIPS, SLIP, ID)", ""),
    ),
    "another number is corrected than the person saw": (
        Defect("correct_slip", "if present ~= REPLACED then", "if false then"),
    ),
    "a hand is declared although all hands are required": (
        Defect(
            "meters.intake.batches:LinkIntake._judge_result", "check_declared(known, event)", "pass"
        ),
    ),
    "a hand that wins with any cards is declared to win nothing": (
        Defect("bonus.settling.no_win:_can_lose", "if not wagers:", "if True:"),
    ),
    "a declared hand decides about the Magic Card": (
        Defect(
            "bonus.settling.no_win:_check_magic_card",
            "if magic is None or magic in seen:",
            "if True:",
        ),
    ),
    "the rate of a tier is one basis point too high": (
        Defect(
            "apply_events",
            "added[ADDED_WAGERED_CENTS], cycle_of(meter)",
            "added[ADDED_WAGERED_CENTS], cycle_of(meter)\n"
            "    if meter == 'keystone_major' then to_meter = to_meter + cents end",
        ),
    ),
    "the percentage of a tier is taken from another meter": (
        Defect(
            "bonus.settling.progressives:settle_row",
            "for meter, percent in row.percents:\n            turns.takes.append("
            "PercentWon(meter, percent))",
            "for meter, percent in row.percents:\n            turns.takes.append("
            "PercentWon(terms.kind, percent))",
        ),
    ),
    "a link that failed is never opened again": (
        Defect("meters.service.link:LinkService._check_state", "await self._open()", "pass"),
    ),
}


def break_code(name: str, put: Callable[[Any, str, Any], None] = setattr) -> None:
    """Put a defect into the running code.

    `put` sets an attribute. With a `put` that can undo this, the code can be restored.
    """
    broken = broken_code(name)
    for place, text in broken.items():
        if ":" in place:
            module, owner, method = _find_method(place)
            made: dict[str, Any] = {}
            exec(compile(text, place, "exec"), vars(module), made)  # noqa: S102
            put(owner, method, made[method])
    for module in SCRIPT_LOADERS:
        put(module, "load_script", lambda script: broken.get(script, load_script(script)))


def broken_code(name: str) -> dict[str, str]:
    """Return the code with a defect, by its place."""
    broken: dict[str, str] = {}
    for defect in DEFECTS[name]:
        text = broken.get(defect.place) or _read_code(defect.place)
        if text.count(defect.line) != 1:
            raise ValueError(f"{defect.place} has not one {defect.line!r}")
        broken[defect.place] = text.replace(defect.line, defect.instead)
    return broken


def _read_code(place: str) -> str:
    if ":" not in place:
        return load_script(place)
    _, owner, method = _find_method(place)
    found = inspect.getattr_static(owner, method)
    return textwrap.dedent(inspect.getsource(getattr(found, "__func__", found)))


def _find_method(place: str) -> tuple[Any, Any, str]:
    """Find a method's module, its class and its name; for a function, the module twice."""
    module_name, _, path = place.partition(":")
    module: Any = importlib.import_module(module_name)
    class_name, _, method = path.rpartition(".")
    return module, getattr(module, class_name) if class_name else module, method
