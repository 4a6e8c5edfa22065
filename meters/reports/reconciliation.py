from collections import Counter
from collections.abc import Iterator

from meters.reports.flows import CLAIMS, ENVY, TABLES, Flow
from meters.reports.gaming_days import LinkDay

_COUNTED = {
    "wagers": "wagers",
    "wagered_cents": "wagered_cents",
    "voided_wagers": "voided_wagers",
    "voided_cents": "voided_cents",
    "wins": "wins",
    "won_cents": "won_cents",
    "rejected": "rejected",
    "rejected_cents": "rejected_cents",
    "reopened": "reopened",
    "reopened_cents": "reopened_cents",
}
"""The figures of tables. The sum over all tables must equal the accounting meter on the right."""


def faults_of(day: LinkDay) -> Iterator[str]:
    """Yield a text for each figure of a day that does not agree with another (duty D19)."""
    for name, pot in day.pots.items():
        if not pot.balanced:
            off = pot.closing_micros - pot.opening_micros - sum(pot.flows.values())
            yield f"the closing of {name} is {off:+d} micros off its opening and movements"
        if other := pot.flows.get(Flow.OTHER):
            yield f"{name} moved by {other:+d} micros without a known reason"
    yield from _table_faults(day)
    owed_cents = sum(one.pending.cents + one.validated.cents for one in day.envy.values())
    if day.pot(ENVY).closing_micros != owed_cents * 10_000:
        yield f"Envy Bonuses of {owed_cents} cents are owed, their accounts hold another amount"
    waiting_cents = sum(one.cents for one in day.waiting.values())
    if day.pot(CLAIMS).closing_micros != waiting_cents * 10_000:
        yield f"wins of {waiting_cents} cents wait, their accounts hold another amount"


def _table_faults(day: LinkDay) -> Iterator[str]:
    summed: Counter[str] = Counter()
    net_micros = 0
    for (_, meter), figures in day.tables.items():
        for name, tally in _COUNTED.items():
            summed[f"{tally}:{meter}"] += getattr(figures, name)
        net_micros += figures.contributed_micros - figures.voided_micros
    for name in sorted(summed.keys() | day.risen.keys()):
        if name.partition(":")[0] in _COUNTED.values() and ":" in name:
            risen = day.risen.get(name, 0)
            if summed[name] != risen:
                yield f"{name} rose by {risen}, the tables' figures say {summed[name]}"
    tables = day.pot(TABLES)
    if tables.opening_micros - tables.closing_micros != net_micros:
        yield f"tables contributed {net_micros} micros, their accounts hold another amount"
