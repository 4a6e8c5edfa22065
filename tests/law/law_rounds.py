"""Reads the rounds of the law from `rounds`, in which a person can follow them without a program.

A file begins with what its rounds share. Under a heading with subsections, readings and a sentence
are rounds, one after the other, as in `Js Tc 8h v Qc 7d 2h -> ante -, play -`:

- before the arrow, each position with its cards (`2: Ks 8c 4s`), then `v` and the dealer's cards,
  and `&` and the cards that several hands share. `+2d` is a fourth card; `fold` and `@p1` (who is
  there) are of the position. A wager is named there if its stake is not the usual one, or if
  the round is refused. `pair_plus=B` chooses a paytable, and `held` says what a meter holds.
- after it, each line of the settlement in its order: `-` is lost, `=` returned, `5` paid 5 to 1,
  `x5` paid 5 for 1, `10% $20.00` paid from the meter, and `$100.00+` a sum with the wager. A hand
  and a subsection may follow. `left` says what a meter holds then; the others hold what they held.
  A refused round has its code, and what the refusal names.

A round with slashes is settled once for each part between them. `A > B > C` are hands of which each
beats the next, whichever the player has, in whatever order the cards lie.
"""

import functools
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any, Final

ROUNDS: Final = Path(__file__).resolve().parent / "rounds"
JSON = dict[str, Any]

_MARK: Final = re.compile(r"\d{3}a\.\d+(?:\([a-zA-Z0-9]+\))*|[GTPF]\d+")
_SETTING: Final = {"paytables", "dealer", "stakes"}
_SLASHED: Final = re.compile(r"([\w.]+=)?(.*?)([,;]?)")
_CARD: Final = re.compile(r"[2-9TJQKA][cdhs]")
_ON_METERS: Final = ("progressive", "five_card", "five_of_six")
_FROM_ACCOUNT: Final = ("five_card_hand_bonus", "magic_card", "lucky_bonus")
_COMMON: Final = {
    "three_card_poker": "community",
    "three_card_prime": "pair_bonus_community_card",
    "four_card_prime": "all_six_card",
}
_HELD: Final = {"and": "reserve", "limit": "limit", "over": "overflow"}


@dataclass(frozen=True, slots=True)
class Case:
    """The rounds under one heading, with the subsections and the readings that they show."""

    path: Path
    marks: tuple[str, ...]
    title: str
    shared: Mapping[str, str]
    lines: Sequence[str]

    @property
    def id(self) -> str:
        return f"{self.path.stem}: {self.title}"


@dataclass
class Stated:
    """A round, and what the file says of its settlement: all lines, or those of one wager."""

    played: JSON
    lines: list[JSON] = field(default_factory=list)
    left: dict[str, JSON] = field(default_factory=dict)
    refused: Sequence[str] = ()
    only: str | None = None


@functools.cache
def all_cases() -> tuple[Case, ...]:
    return tuple(_cases())


def _cases() -> Iterator[Case]:
    for path in sorted(ROUNDS.glob("*.txt")):
        text = re.sub(r"\n +", " ", path.read_text(encoding="utf-8"))
        head, *parts = text.split("\n# ")
        shared = _settings(head.splitlines())
        for part in parts:
            heading, *lines = [line for line in part.splitlines() if line]
            words = heading.split()
            marks = tuple(word for word in words if _MARK.fullmatch(word))
            own = [line for line in lines if line.split()[0] in _SETTING]
            rounds = [line for line in lines if line not in own]
            yield Case(path, marks, " ".join(words[len(marks) :]), shared | _settings(own), rounds)


def _settings(lines: Sequence[str]) -> dict[str, str]:
    return dict(line.split(maxsplit=1) for line in lines if line)


def rounds_of(case: Case) -> Iterator[tuple[str, Stated]]:
    for line in case.lines:
        if " -> " not in line:
            yield from ((line, stated) for stated in _ladder(case, line.split(" > ")))
            continue
        words = [_parts(word) for word in line.split(" ")]
        for number in range(max(map(len, words))):
            one = " ".join(word[number] if len(word) > 1 else word[0] for word in words)
            yield line, _Reader(case.shared).stated(*one.split(" -> "))


def _parts(word: str) -> list[str]:
    name, values, end = _SLASHED.fullmatch(word).groups("")  # type: ignore[union-attr]
    return [name + value + end for value in values.split("/")]


def _ladder(case: Case, hands: Sequence[str]) -> Iterator[Stated]:
    ante, follow, *_ = case.shared["wagers"].split()
    decides, size = case.shared["decides"], int(case.shared["hand"])
    for higher, lower in pairwise(hands):
        for player, dealer, result in ((higher, lower, "1"), (lower, higher, "-")):
            for turned in (1, -1):
                cards, against = player.split()[:size][::turned], dealer.split()[::turned]
                before = f"{' '.join(cards)} {ante} {follow} v {' '.join(against)}"
                stated = _Reader(case.shared).stated(before, f"{decides} {result}")
                stated.only = decides
                yield stated


def _cents(text: str) -> int:
    return int(re.sub(r"[$,.+]", "", text if "." in text else f"{text}.00"))


class _Reader:
    def __init__(self, shared: Mapping[str, str]) -> None:
        self._shared = shared
        self._paytables: JSON = {}
        for word in shared["paytables"].split():
            self._choose(word)
        self._boxes: list[JSON] = []
        self._cards: list[str] = []
        self._dealer: list[str] | None = None
        self._common: list[str] | None = None
        self._more: JSON = {}
        self._at = _cents("$1")
        self._held: JSON | None = None

    def stated(self, before: str, after: str) -> Stated:
        self._read(before.split())
        stated = Stated({})
        if after.startswith("refused "):
            stated.refused = after.split()[1:]
        else:
            said, *left = after.split("; left ")
            stated.lines = list(self._lines(said))
            stated.left = dict(_meter(each.split()) for each in left)
        stated.played = self._played()
        return stated

    def _choose(self, word: str) -> None:
        name, _, value = word.partition("=")
        if name.startswith("mini_royal."):
            self._paytables.setdefault("mini_royal", {})[name.partition(".")[2]] = int(value)
        elif value == "none":
            del self._paytables[name]
        else:
            self._paytables[name] = _cents(value) if value.startswith("$") else value

    def _read(self, words: list[str]) -> None:
        words = words if re.fullmatch(r"\d:", words[0]) else ["1:", *words]
        while words:
            word = words.pop(0)
            if not self._read_cards(word):
                self._read_more(word, words)

    def _read_cards(self, word: str) -> bool:
        if re.fullmatch(r"\d:", word):
            self._cards = []
            self._boxes.append({"position": int(word[0]), "cards": self._cards, "wagers": {}})
        elif _CARD.fullmatch(word):
            self._cards.append(word)
        elif word == "v":
            self._cards = self._dealer = []
        elif word == "&":
            self._cards = self._common = []
        elif word[0] in "+@":
            self._boxes[-1]["fourth_card" if word[0] == "+" else "patron"] = word[1:]
        elif word in {"fold", "no_win"}:
            self._boxes[-1]["folded" if word == "fold" else word] = True
        else:
            return word == "none"
        return True

    def _read_more(self, word: str, words: list[str]) -> None:
        if word in {"void", "dealer_exposed"}:
            self._more["irregularity"] = word
        elif word in {"magic_card", "lucky_position"}:
            value = words.pop(0)
            self._more.setdefault("draw", {})[word] = int(value) if value.isdigit() else value
        elif word == "at":
            self._at = _cents(words.pop(0))
        elif word == "held":
            name, meter = _meter(words) if words[0] != "none" else ("", {})
            self._held = (self._held or {}) | ({name: meter} if meter else {})
            del words[: 2 * len(meter)]
        elif "=" in word:
            self._choose(word)
        else:
            given = bool(words) and words[0].startswith("$")
            cents = _cents(words.pop(0)) if given else self._usual(word)
            self._boxes[-1]["wagers"][word] = cents

    def _usual(self, wager: str) -> int:
        return self._at if wager.startswith(_ON_METERS) else _cents(self._shared["stakes"])

    def _lines(self, said: str) -> Iterator[JSON]:
        position = self._boxes[0]["position"]
        for text in said.split(", "):
            item, outcome, *more = words = text.split()
            if item.isdigit():
                position = int(item)
                item, outcome, *more = words[1:]
            (box,) = [box for box in self._boxes if box["position"] == position]
            if outcome == ".":
                continue
            if item in self._shared["wagers"].split():
                box["wagers"].setdefault(item, self._usual(item))
            stake = box["wagers"].get(item, box["wagers"].get("ante", 0))
            if item in {"magic_card", "lucky_bonus"}:
                stake = self._at
            line = {"position": position, "item": item} | _outcome(item, outcome, stake, more)
            for name, value in pairwise([*more, ""]):
                if name == "of":
                    line["envy_of"] = int(value)
                elif name == "on":
                    line["on"] = value
                elif name[0] in "([":
                    line["hand" if name[0] == "(" else "rule"] = name[1:-1] or None
            yield line

    def _played(self) -> JSON:
        game, whole = self._shared["game"], "irregularity" not in self._more
        for box in self._boxes:
            if not box["cards"]:
                del box["cards"]
        if self._dealer is None and whole:
            self._dealer = self._shared["dealer"].split()
        shown = {card for box in self._boxes for card in box.get("cards", ())}
        usual = self._shared.get("common", "").split()
        if self._common is None and whole and not shown.union(self._dealer or ()) & {*usual}:
            self._common = usual
        played: JSON = {"game": game, "paytables": self._paytables, "positions": self._boxes}
        if self._dealer:
            played["dealer"] = self._dealer
        if self._common:
            common = self._common if game == "three_card_poker" else self._common[0]
            played[_COMMON[game]] = common
        held = self._held
        if held is None and "holds" in self._shared:
            held = dict(_meter(each.split()) for each in self._shared["holds"].split("; "))
        if held:
            played["meters"] = {name: {"wager": self._at} | meter for name, meter in held.items()}
        return played | self._more


def _meter(words: Sequence[str]) -> tuple[str, JSON]:
    """Return what a meter holds: its amount, then its reserve, limit and overflow, if said."""
    meter = {"amount": _cents(words[1])}
    for name, amount in zip(words[2::2], words[3::2], strict=False):
        if name not in _HELD:
            break
        meter[_HELD[name]] = _cents(amount)
    return words[0], meter


def _outcome(item: str, outcome: str, stake: int, more: list[str]) -> JSON:
    if outcome in {"-", "="}:
        back = stake if outcome == "=" else 0
        return {"outcome": "returned" if back else "collected", "paid": 0, "returned": back}
    percent = int(outcome[:-1]) if outcome.endswith("%") else None
    amount = more.pop(0) if percent else outcome
    if amount.startswith("$"):
        paid, back = _cents(amount), stake if amount.endswith("+") else 0
    else:
        paid, back = int(amount.removeprefix("x")) * stake, 0 if amount[0] == "x" else stake
    source = "game_account" if item.startswith(_FROM_ACCOUNT) else "table_inventory"
    source = "hand_pay" if percent else source
    return {
        "outcome": "paid", "paid": paid, "returned": back, "percent": percent,
        "paid_from": source if paid or percent else None,
    }  # fmt: skip
