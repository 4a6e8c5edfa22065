"""A replay finds the lowest version number that each meter can have."""

import msgspec
import pytest

from meters.books.link_evidence import LinkEvidence

pytestmark = pytest.mark.duty("D17")

_NAMES = ("kind", "at", "by", "table", "round", "seq", "transfers", "event", "reply")


class _Ledger:
    """Ledger entries of a link with the meters ``a`` and ``b``, each written by one script call."""

    def __init__(self) -> None:
        self.evidence = LinkEvidence()
        self._entries = 0
        self.add("seed", ("house", "meter:a"))
        self.add("seed", ("house", "reserve:b"))

    def add(self, kind: str, *moved: tuple[str, str], at: str = "", **event: str) -> dict[str, int]:
        self._entries += 1
        transfers = [(source, target, 5, 1) for source, target in moved]
        fields = dict.fromkeys(_NAMES, b"") | {
            "kind": kind.encode(),
            "at": (at or f"{self._entries}").encode(),
            "transfers": msgspec.json.encode(transfers),
            "event": msgspec.json.encode(event),
        }
        self.evidence.add_entry(self._entries, fields)
        return self.evidence.versions


def test_entry_raises_the_meters_between_which_it_moves_money() -> None:
    ledger = _Ledger()
    assert ledger.evidence.versions == {"a": 1, "b": 1}
    assert ledger.add("wagers", ("table:T-1", "meter:a")) == {"a": 2, "b": 1}
    assert ledger.add("void", ("overflow:b", "table:T-1")) == {"a": 2, "b": 2}


@pytest.mark.parametrize(
    ("kind", "event"),
    [("close", {"reason": "felt"}), ("open", {}), ("restore", {})],
)
def test_entry_about_the_whole_link_raises_every_seeded_meter(
    kind: str, event: dict[str, str]
) -> None:
    assert _Ledger().add(kind, **event) == {"a": 2, "b": 2}


def test_change_of_a_parameter_raises_its_meter() -> None:
    assert _Ledger().add("parameter", proposal="1", meter="b") == {"a": 1, "b": 2}


@pytest.mark.parametrize("kind", ["validate", "reject"])
def test_first_decision_on_a_percentage_raises_the_meter_that_paid_it(kind: str) -> None:
    ledger = _Ledger()
    assert ledger.add("result", ("meter:a", "claim:c")) == {"a": 2, "b": 1}
    assert ledger.add(kind, claim="other") == {"a": 2, "b": 1}
    assert ledger.add(kind, claim="c") == {"a": 3, "b": 1}
    assert ledger.add(kind, claim="c") == {"a": 3, "b": 1}


def test_entries_of_one_script_call_raise_a_meter_once() -> None:
    ledger = _Ledger()
    ledger.add("wagers", ("table:T-1", "meter:a"), at="now")
    assert ledger.add("wagers", ("table:T-2", "meter:a"), at="now") == {"a": 2, "b": 1}
