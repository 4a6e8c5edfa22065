"""Deliberate defects in the code: a simulation that does not find them proves nothing."""

import importlib
import inspect
import textwrap
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

import meters.books.store
from meters.books.script_loader import load_script


@dataclass(frozen=True, slots=True)
class Defect:
    """One line of the code and its replacement.

    Attributes:
        place: name of a script, or a module and a method in it.
        line: the line in the code.
        instead: its replacement.
    """

    place: str
    line: str
    instead: str


DEFECTS: Final[Mapping[str, tuple[Defect, ...]]] = {
    "a repeat is counted again": (
        Defect("apply_events", "if seq <= at.last then", "if seq < at.last then"),
    ),
    "no reply is kept": (
        Defect("apply_events", "'reply:' .. exact(seq), digest .. reply", "'kept', '1'"),
    ),
    "a copy in the same batch is refused": (
        Defect(
            "apply_events",
            "local kept = kept_reply(key, seq)",
            "local kept = redis.call('HGET', key, 'reply:' .. exact(seq))",
        ),
    ),
    "a result rests on any round of that name": (
        Defect("apply_events", "if basis and basis ~= at.basis then", "if false then"),
    ),
    "what the store failed to do is answered as done": (
        Defect(
            "meters.intake.batches:LinkIntake._apply",
            "answers = await self._store.apply(steps, keys)",
            "try:\n        answers = await self._store.apply(steps, keys)\n"
            "    except Exception:\n"
            "        answers = [Answer(Status.ACCEPTED, one.step.work.reply.encode())"
            " for one in judged]",
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
            "    touch_meter(meter)\n    tally('voided_wagers:'",
            "    tally('voided_wagers:'",
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
    "a link that failed is never opened again": (
        Defect("meters.service.link:LinkService._check_state", "await self._open()", "pass"),
    ),
}


def break_code(name: str) -> None:
    """Put a defect into the running code."""
    broken = broken_code(name)
    for place, text in broken.items():
        if ":" in place:
            module, owner, method = _find_method(place)
            made: dict[str, Any] = {}
            exec(compile(text, place, "exec"), vars(module), made)  # noqa: S102
            setattr(owner, method, made[method])
    vars(meters.books.store)["load_script"] = lambda script: broken.get(script, load_script(script))


def broken_code(name: str) -> dict[str, str]:
    """Return the code with a defect, by its place.

    Raises:
        ValueError: the line that the defect replaces is missing or occurs more than once.
    """
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
    """Find a method's module, its class and its name."""
    module_name, _, path = place.partition(":")
    module: Any = importlib.import_module(module_name)
    class_name, _, method = path.partition(".")
    return module, getattr(module, class_name), method
