"""Counts on disk: only the code that made them reads them, and they never prevent a run."""

from collections.abc import Callable
from pathlib import Path

import msgspec
import pytest

from bonus.odds.enumerations import Enumeration, Enumerator, HandDeals
from bonus.odds.hand_counts import Advance
from meters.selfcheck.odds_counting import CountCache, code_digest


class Counting:
    """Enumeration that records how often it really counted."""

    def __init__(self, name: str = "some hands") -> None:
        self.times = 0
        self.enumeration = Enumeration(name, HandDeals, self._count, lambda: 10)

    def _count(self, advance: Advance) -> HandDeals:
        self.times += 1
        advance(10)
        return HandDeals({"pair": self.times})


@pytest.fixture
def notices() -> list[str]:
    return []


def files_in(directory: Path) -> list[Path]:
    return sorted(directory.iterdir())


def test_what_was_counted_once_is_read_the_next_time(tmp_path: Path, notices: list[str]) -> None:
    counting = Counting()
    for _ in range(2):
        enumerator = Enumerator(CountCache(tmp_path / "made" / "here", notices.append))
        assert enumerator.get(counting.enumeration) == HandDeals({"pair": 1})
        assert enumerator.get(counting.enumeration) == HandDeals({"pair": 1})
    assert counting.times == 1
    assert len(files_in(tmp_path / "made" / "here")) == 1
    assert not notices


def test_without_a_shelf_nothing_is_counted_twice_in_one_run() -> None:
    counting = Counting()
    enumerator = Enumerator()
    enumerator.get(counting.enumeration)
    enumerator.get(counting.enumeration)
    assert counting.times == 1


def test_what_other_code_counted_is_not_read(tmp_path: Path, notices: list[str]) -> None:
    counting = Counting()
    for code in ("old", "new", "new"):
        Enumerator(CountCache(tmp_path, notices.append, code)).get(counting.enumeration)
    assert counting.times == 2
    assert not notices


def test_what_other_code_counted_is_not_left_lying_about(
    tmp_path: Path, notices: list[str]
) -> None:
    other = Counting("hands and more")
    Enumerator(CountCache(tmp_path, notices.append, "old")).get(other.enumeration)
    for code in ("old", "new"):
        Enumerator(CountCache(tmp_path, notices.append, code)).get(Counting("hands").enumeration)
    assert len(files_in(tmp_path)) == 2
    Enumerator(CountCache(tmp_path, notices.append, "old")).get(other.enumeration)
    assert other.times == 1


def test_what_has_another_name_is_not_read(tmp_path: Path, notices: list[str]) -> None:
    first, second = Counting("some hands"), Counting("some-hands")
    for counting in (first, second):
        Enumerator(CountCache(tmp_path, notices.append)).get(counting.enumeration)
    assert (first.times, second.times) == (1, 1)


@pytest.mark.parametrize(
    "damaged",
    [
        *(lambda _, left=left: left for left in (b"", b"x", b"short of a digest", bytes(200))),
        lambda data: data[:-1] + bytes([data[-1] ^ 1]),
    ],
    ids=["empty", "a byte", "no digest", "zeros", "one changed bit"],
)
def test_a_damaged_file_is_counted_again_and_mended(
    damaged: Callable[[bytes], bytes], tmp_path: Path, notices: list[str]
) -> None:
    counting = Counting()
    Enumerator(CountCache(tmp_path, notices.append)).get(counting.enumeration)
    (file,) = files_in(tmp_path)
    file.write_bytes(damaged(file.read_bytes()))
    found = Enumerator(CountCache(tmp_path, notices.append)).get(counting.enumeration)
    assert found == HandDeals({"pair": 2})
    assert [notice for notice in notices if "damaged" in notice] == notices != []
    Enumerator(CountCache(tmp_path, notices.append)).get(counting.enumeration)
    assert counting.times == 2
    assert len(notices) == 1


def test_what_is_whole_but_something_else_is_counted_again(
    tmp_path: Path, notices: list[str]
) -> None:
    counting = Counting()
    shelf = CountCache(tmp_path, notices.append)
    shelf.put(counting.enumeration.name, msgspec.msgpack.encode({"deals": ["no", "counts"]}))
    assert Enumerator(shelf).get(counting.enumeration) == HandDeals({"pair": 1})


def test_an_impossible_directory_is_reported_once(tmp_path: Path, notices: list[str]) -> None:
    in_the_way = tmp_path / "file"
    in_the_way.write_text("no directory")
    enumerator = Enumerator(CountCache(in_the_way / "here", notices.append))
    first, second = Counting("first"), Counting("second")
    assert enumerator.get(first.enumeration) == HandDeals({"pair": 1})
    assert enumerator.get(second.enumeration) == HandDeals({"pair": 1})
    assert len([notice for notice in notices if "nothing can be stored" in notice]) == 1


def test_nothing_is_left_of_a_file_that_could_not_be_put_in_place(
    tmp_path: Path, notices: list[str]
) -> None:
    shelf = CountCache(tmp_path, notices.append)
    shelf.put("hands", b"kept")
    (file,) = files_in(tmp_path)
    file.unlink()
    file.mkdir()
    shelf.put("hands", b"kept")
    assert files_in(tmp_path) == [file]
    assert len(notices) == 1


def test_a_change_of_the_ranking_or_counting_code_is_noticed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A changed byte in one of those modules, or a new module among the rankings, is other code."""
    package = tmp_path / "bonus"
    for name in ("cards.py", "hands/three.py", "odds/hand_counts.py",
                 "odds/dealer_duels.py", "odds/enumerations.py", "odds/offers.py"):  # fmt: skip
        (package / name).parent.mkdir(parents=True, exist_ok=True)
        (package / name).write_text("# code\n")
    monkeypatch.setattr("meters.selfcheck.odds_counting.files", lambda _package: package)
    digests = set()

    def digest() -> str:
        code_digest.cache_clear()
        return code_digest()

    try:
        digests.add(digest())
        for name in (
            *("cards.py", "hands/three.py", "hands/four.py"),
            *("odds/hand_counts.py", "odds/dealer_duels.py", "odds/enumerations.py"),
        ):
            (package / name).write_text(f"# other code of {name}\n")
            digests.add(digest())
        assert len(digests) == 7
        (package / "odds/offers.py").write_text("# how it is shown\n")
        assert digest() in digests
    finally:
        code_digest.cache_clear()


def test_what_has_begun_is_reported(tmp_path: Path, notices: list[str]) -> None:
    begun: list[tuple[str, int]] = []
    done: list[int] = []

    def begin(name: str, steps: int) -> Advance:
        begun.append((name, steps))
        return done.append

    counting = Counting()
    for _ in range(2):
        Enumerator(CountCache(tmp_path, notices.append), begin).get(counting.enumeration)
    assert begun == [("some hands", 10)]
    assert done == [10]
