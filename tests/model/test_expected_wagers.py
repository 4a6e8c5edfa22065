"""The audit calculates the transfers of repeated wagers once, as long as nothing has changed."""

import msgspec
import pytest

from meters.books.entry_messages import placed_in
from meters.books.expected_transfers import ExpectedBooks, Transfer, seed_moved
from meters.books.expected_wagers import ExpectedWagers
from meters.books.money_terms import TermsText

pytestmark = [pytest.mark.duty("D19"), pytest.mark.section("649a.12(e)(3)")]

METER = "progressive"
TERMS = TermsText(
    kind="progressive", wager_cents=100, paytable="A", seed_cents=100_000, reseed_cents=100_000,
    primary_bps=1_400, reserve_bps=100, magic_card_every=0, lucky_every=0, limit_cents=0,
    contribution_max_cents=0,
)  # fmt: skip


class Wagering:
    """A meter, and a table that wagers on it again and again."""

    def __init__(self, terms: TermsText) -> None:
        self.books = ExpectedBooks()
        self.wagers = ExpectedWagers()
        self._move(seed_moved(self.books, METER, terms).transfers)

    def moved(
        self, positions: int = 2, *, cents: int = 100, over: bool = True
    ) -> tuple[list[Transfer], list[str]]:
        """Place wagers in a new round; return their transfers and faults, and apply them.

        The round before is over, unless `over` is false.
        """
        event = {
            "type": "wagers", "seq": 1, "at": "2026-11-24T10:00:00Z", "round": "R1",
            "positions": [
                {"position": place, "wagers": {METER: cents}} for place in range(1, positions + 1)
            ],
        }  # fmt: skip
        if over:
            self.books.rounds.clear()
        text = b'[["table:T-1","meter:progressive",1,1]]'
        told = [Transfer("table:T-1", f"meter:{METER}", 1, 1)]
        placed = placed_in(msgspec.json.encode(event))
        draft = self.wagers.moved(self.books, "T-1", placed, text, told)
        self._move(draft.transfers)
        return draft.transfers, draft.faults

    def _move(self, transfers: list[Transfer]) -> None:
        for one in transfers:
            for account, micros in ((one.source, -one.micros), (one.target, one.micros)):
                self.books.balances[account] = self.books.balances.get(account, 0) + micros


def _of(to_meter: int, to_reserve: int, cycle: int = 1) -> list[Transfer]:
    return [
        Transfer("table:T-1", f"meter:{METER}", to_meter, cycle),
        Transfer("table:T-1", f"reserve:{METER}", to_reserve, cycle),
    ]


def test_repeated_wagers_have_the_same_transfers_and_are_counted_each_time() -> None:
    table = Wagering(TERMS)
    for times in range(1, 4):
        assert table.moved() == (_of(280_000, 20_000), [])
        assert table.books.tallies == {
            f"wagers:{METER}": 2 * times,
            f"wagered_cents:{METER}": 200 * times,
        }
        (added,) = table.books.rounds["T-1"]
        assert (added.wagers, added.wagered_cents, added.cycle) == (2, 200, 1)


def test_other_wagers_are_calculated_for_themselves() -> None:
    table = Wagering(TERMS)
    assert table.moved(2) == (_of(280_000, 20_000), [])
    assert table.moved(3) == (_of(420_000, 30_000), [])
    assert table.moved(2) == (_of(280_000, 20_000), [])


def test_changed_rate_and_next_cycle_are_used_at_once() -> None:
    table = Wagering(TERMS)
    table.moved()
    table.books.terms[METER] = msgspec.structs.replace(TERMS, primary_bps=1_000)
    assert table.moved() == (_of(200_000, 20_000), [])
    table.books.cycles[METER] += 1
    assert table.moved() == (_of(200_000, 20_000, cycle=2), [])


def test_meter_with_a_payout_limit_is_filled_from_its_balance_each_time() -> None:
    """The third round finds room for a part only, the fourth for nothing (duty D3)."""
    table = Wagering(msgspec.structs.replace(TERMS, limit_cents=100_070, reserve_bps=0))
    to_meter = [one.micros for _ in range(4) for one in table.moved()[0] if "meter" in one.target]
    assert to_meter == [280_000, 280_000, 140_000]
    assert table.books.balances[f"overflow:{METER}"] == 420_000


def test_wrong_wagers_are_reported_each_time() -> None:
    table = Wagering(msgspec.structs.replace(TERMS, contribution_max_cents=20))
    for _ in range(2):
        assert table.moved()[1] == [f"300000 micros in one event are too many: {METER}"]
        assert table.moved(1, cents=90)[1] == [f"a wager of 90 cents fed {METER}"]


def test_second_round_of_a_table_is_reported_for_repeated_wagers_too() -> None:
    table = Wagering(TERMS)
    for faults in ([], ["table T-1 has a round already"], ["table T-1 has a round already"]):
        assert table.moved(over=False) == (_of(280_000, 20_000), faults)
