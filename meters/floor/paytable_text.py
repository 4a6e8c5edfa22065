"""What each hand wins under the present terms of a link, in patrons' words (duty D1)."""

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Final, Literal

from bonus.display import coin_money, short_money
from bonus.hands.rankings import RANKINGS
from bonus.law.chapter_file import Chapter
from bonus.law.meter_terms import MeterTerms, Row
from bonus.wagers import BadBeatPart, Percent
from meters.floor.floor_file import FixedJackpot, Meter
from meters.floor.patron_words import PatronWords

_ROYAL: Final = "As Ks Qs Js Ts"
_MINI_ROYAL: Final = "As Ks Qs"
_EXACT: Final[Mapping[str, str]] = {
    "royal_flush_spades": _ROYAL,
    "royal_flush": _ROYAL,
    "mini_royal_spades": _MINI_ROYAL,
    "mini_royal": _MINI_ROYAL,
    "super_royal": f"{_ROYAL} 9s",
    "super_royal_diamonds": "Ad Kd Qd Jd Td 9d",
    "six_card_royal": f"{_ROYAL} 9s",
    "six_card_royal_diamonds": "Ad Kd Qd Jd Td 9d",
}
"""Cards of hands that exist once in each suit."""

_EXAMPLES: Final[Mapping[str, str]] = {
    "straight_flush": "9h 8h 7h 6h 5h",
    "four_of_a_kind": "Kc Kd Kh Ks 4c",
    "full_house": "Qh Qs Qd 7c 7h",
    "five_aces": "As Ah Ad Ac Jk",
}
_EXAMPLES_OF_THREE: Final[Mapping[str, str]] = {
    "straight_flush": "9h 8h 7h",
    "three_of_a_kind": "Kc Kd Kh",
}


@dataclass(frozen=True, slots=True)
class Part:
    """A part of what a hand wins.

    For ``whole``, `text` is the title of a meter that the hand wins; for ``share``, a percentage of
    a meter; for ``sum``, an amount. `meter` is the id of the meter.
    """

    kind: Literal["whole", "share", "sum"]
    text: str
    meter: str = ""


@dataclass(frozen=True, slots=True)
class PayRow:
    """One hand. For each game, `cells` has what the hand wins, and then any Envy Bonus."""

    hand: str
    cards: tuple[str, ...]
    cells: tuple[tuple[Part, ...], ...]


@dataclass(frozen=True, slots=True)
class Pays:
    """A paytable for patrons: what each hand wins, in one game or in several games.

    `heading` is that of the column of the hands; `columns` are the others; `envy` is true for Envy
    Bonus columns. `rows` has the highest hand first, and the draws last. Amounts are in dollars for
    one wager. `rules` are sentences below the paytable.
    """

    heading: str
    columns: tuple[str, ...]
    envy: tuple[bool, ...]
    rows: tuple[PayRow, ...]
    rules: tuple[str, ...]

    @property
    def has_envy(self) -> bool:
        return any(self.envy)


@dataclass(frozen=True, slots=True)
class Winner:
    """A hand that wins a percentage of a meter. `whole` is true for 100 %.

    If the winners are the same in every game that feeds the meter, `game` is empty; if its wagers
    have several amounts, it has the largest amount. Unless `exact`, the cards are an example.
    """

    game: str
    hand: str
    cards: tuple[str, ...]
    exact: bool
    share: str
    whole: bool


@dataclass(frozen=True, slots=True)
class _GamePays:
    """Payouts of each hand in one game. `hands` has the hands with a payout, the highest first.

    `community` has the hands that bring all players a part of a meter, with this part in words.
    `bad_beat` has the sentences about the bad beat; empty if the wager has none.
    """

    hands: tuple[str, ...]
    wins: Mapping[str, tuple[Part, ...]]
    envy: Mapping[str, tuple[Part, ...]]
    community: tuple[tuple[str, str], ...]
    bad_beat: str

    @property
    def has_envy(self) -> bool:
        return any(self.envy.values())


def meters_by_wager(meters: Iterable[Meter]) -> list[tuple[Meter, ...]]:
    """Return the meters in groups: one wager feeds all meters of a group."""
    groups: list[list[Meter]] = []
    for meter in meters:
        for group in groups if not meter.must_hit_by else ():
            first = group[0]
            if first.must_hit_by:
                continue
            same = (first.wagers_cents, first.paytable, first.fed_in) == (
                meter.wagers_cents, meter.paytable, meter.fed_in,
            )  # fmt: skip
            kinds = {each.kind for each in group}
            if same and meter.kind in _fed(first) and meter.kind not in kinds:
                group.append(meter)
                break
        else:
            groups.append([meter])
    return [tuple(group) for group in groups]


def ranks_of(meters: Iterable[Meter]) -> dict[str, int]:
    """Return the rank of each meter of a link, the top meter first: 1 to 3, or 0 if it has no rank.

    The floor file can set a meter's rank. Otherwise, meters that the same wager feeds are ranked by
    their seeds, and every other meter has no rank. Meters without a rank are equal. So ranks do not
    change while meters grow.
    """
    found: dict[str, tuple[int, int]] = {}
    for group in meters_by_wager(meters):
        by_seed = sorted(group, key=lambda meter: -meter.terms.seed_cents)
        for at, meter in enumerate(by_seed, 1):
            rank = meter.tier or (min(at, 3) if len(group) > 1 else 0)
            found[meter.meter_id] = (rank, -meter.terms.seed_cents)
    order = sorted(found, key=lambda meter: (found[meter][0] or 4, found[meter][1]))
    return {meter: found[meter][0] for meter in order}


def pays_of(meters: Sequence[Meter], words: PatronWords) -> Pays:
    """Return the paytable of the meters of one wager.

    If the games pay differently, each game has columns of its own.
    """
    top = meters[0]
    games = {game: _pays_in(meters, game, words) for game in _games_of(top)}
    first, *others = games.values()
    shown = {words.wins: first}
    if any(pays != first for pays in others):
        shown = {top.games[game].title: pays for game, pays in games.items()}
    columns = [
        column
        for title, pays in shown.items()
        for column in ([(title, False), (words.envy, True)] if pays.has_envy else [(title, False)])
    ]
    results = all(game.result for game in _feeding(top))
    in_poker = names_poker_hands(top)
    rows = []
    for hand in _merged(pays.wins for pays in shown.values()):
        if any(hand in pays.hands for pays in shown.values()):
            cells = tuple(cell for pays in shown.values() for cell in _cells(pays, hand))
            of_meter = any(part.meter for cell in cells for part in cell)
            cards = _cards(hand, top.terms) if of_meter and in_poker else ()
            name = _name(hand, (each for pays in shown.values() for each in pays.hands), words)
            rows.append(PayRow(name, cards, cells))
    envy = tuple(envy for _, envy in columns)
    rules = [] if results else [words.highest_rule]
    rules += _first_cards_rules(top, words)
    rules += [words.divided_rule] if any(map(_is_divided, meters)) else []
    rules += _community_rules(shown, words)
    rules += _smaller_rules(top, words)
    for title, pays in shown.items():
        if pays.bad_beat:
            rules.append(pays.bad_beat if len(shown) == 1 else f"{title}: {pays.bad_beat}")
    rules += [words.envy_rule] if any(envy) else []
    terms = top.terms
    for title, rule, every, for_1 in (
        (words.magic_card, words.magic_rule, top.magic_card_every, terms.magic_card_for_1),
        (words.lucky_bonus, words.lucky_rule, top.lucky_every, terms.lucky_bonus_for_1),
    ):
        if every:
            won = (Part("sum", short_money(for_1 * top.wager)),)
            rows.append(PayRow(title, (), (won, *(() for _ in columns[1:]))))
            rules.append(rule)
    heading = words.result if results else words.hand
    return Pays(heading, tuple(title for title, _ in columns), envy, tuple(rows), tuple(rules))


def _first_cards_rules(meter: Meter, words: PatronWords) -> list[str]:
    """Return how many community cards count, for wagers on the first of them.

    If this is not the same for all wagers and games of the meter, each sentence names its game.
    """
    counts = {
        (game.title, wager.community_cards): None
        for game in _feeding(meter)
        for wager in game.wager
        if meter.kind in wager.fed
    }
    differ = len({count for _, count in counts}) > 1
    found = {
        f"{game}: {rule}" if differ else rule: None
        for game, count in counts
        if count
        for rule in [words.first_cards_rule.format(count=words.number(count))]
    }
    return list(found)


def _smaller_rules(meter: Meter, words: PatronWords) -> list[str]:
    """Return what each smaller wager wins of the paytable, which is for the largest wager.

    If the paytable has fixed sums, not everything is in proportion to the wager: then every amount
    that is another one with the smaller wager is named.
    """
    every = [row for game in meter.fed_in for row in meter.terms_in(game).rows.values()]
    sums = any(row.sum_cents or row.envy_cents for row in every)
    found = []
    for cents in meter.smaller_wagers:
        amount, part = coin_money(cents), Fraction(cents, meter.wager)
        if not sums:
            found.append(words.smaller_rule.format(amount=amount, part=part))
            continue
        found.append(words.smaller_meter_rule.format(amount=amount, part=part))
        others = {
            meter.games[game].title: "; ".join(_other_sums(meter, game, cents, words))
            for game in meter.fed_in
        }
        differ = len({*others.values()}) > 1
        rules = {
            f"{game}: {rule}" if differ else rule: None
            for game, others_there in others.items()
            if others_there
            for rule in [words.smaller_sums_rule.format(amount=amount, sums=others_there)]
        }
        found += rules
    return found


def _other_sums(meter: Meter, game: str, cents: int, words: PatronWords) -> Iterator[str]:
    """Yield each amount in dollars that is another one with a smaller wager."""
    terms = meter.terms_in(game)
    smaller = {row.hand: row for row in terms.rows_at(cents).values()}
    rows = {row.hand: row for row in terms.rows.values()}
    for hand, row in rows.items():
        name, own = _name(hand, rows, words), smaller[hand]
        if own.fixed_cents(cents) != row.fixed_cents(meter.wager):
            yield f"{name} {short_money(own.fixed_cents(cents))}"
        if own.envy_cents != row.envy_cents:
            yield f"{name} ({words.envy_bonus}) {short_money(own.envy_cents)}"


def _community_rules(shown: Mapping[str, _GamePays], words: PatronWords) -> list[str]:
    """Return a sentence for each part of a meter that all players of a wager divide."""
    found = []
    for game, pays in shown.items():
        for hand, share in pays.community:
            name = _name(hand, pays.hands, words)
            rule = words.community_rule.format(hand=name, share=share)
            found.append(rule if len(shown) == 1 else f"{game}: {rule}")
    return found


def names_poker_hands(meter: Meter) -> bool:
    """Return whether the names of hands say which cards win: not so with patterns and results."""
    rankings = (
        wager.ranking for game in _feeding(meter) for wager in game.wager if meter.kind in wager.fed
    )
    return all(ranking in RANKINGS for ranking in rankings)


def highest_envy(meters: Iterable[Meter]) -> int:
    terms = (meter.terms_in(game) for meter in meters for game in _games_of(meter))
    return max((row.envy_cents for each in terms for row in each.rows.values()), default=0)


def _name(hand: str, beside: Iterable[str], words: PatronWords) -> str:
    """Return a hand in words, given the hands `beside` it in the paytable.

    If the royal flush in spades is one of them, ``royal_flush`` means any other royal flush.
    """
    if hand == "royal_flush" and "royal_flush_spades" in beside:
        return words.other_royal
    return words.hand_text(hand)


def winners_of(meter: Meter, words: PatronWords) -> tuple[Winner, ...]:
    """Return the hands that win a percentage of the meter, by game if the games differ.

    If wagers have several amounts, a text about the largest takes the place of the game.

    No hand wins a must-hit-by meter, which can be on no table any more.
    """
    if meter.must_hit_by:
        return ()
    first, *others = [_winners_in(meter, game, words) for game in _games_of(meter)]
    if all(hands == first for hands in others):
        # The percentages are those of the largest wager.
        largest = words.wager.format(amount=coin_money(meter.wager))
        return (
            tuple(replace(each, game=largest) for each in first) if meter.smaller_wagers else first
        )
    return tuple(
        replace(each, game=meter.games[game].title)
        for game in _games_of(meter)
        for each in _winners_in(meter, game, words)
    )


def fixed_winner_of(jackpot: FixedJackpot, words: PatronWords) -> Winner:
    """Return the hand that wins a fixed jackpot."""
    hands = {row.hand for row in jackpot.meter.terms.rows.values()}
    name = _name(jackpot.hand, hands, words)
    return Winner("", name, (), exact=False, share=words.fixed_amount, whole=False)


def _games_of(meter: Meter) -> tuple[str, ...]:
    """Return the games that feed a meter. An empty name means the first game with such a meter."""
    return meter.fed_in or ("",)


def _game(meter: Meter, game: str) -> Chapter:
    return meter.games[game] if game else meter.games.with_meter(meter.kind)[0]


def _feeding(meter: Meter) -> list[Chapter]:
    return [_game(meter, game) for game in _games_of(meter)]


def _is_divided(meter: Meter) -> bool:
    """Return whether a game lets players divide what the dealer's cards or result win."""
    wagers = (wager for game in _feeding(meter) for wager in game.wager if meter.kind in wager.fed)
    return any(wager.cards == ("dealer",) for wager in wagers)


def _fed(meter: Meter) -> Sequence[str]:
    return meter.games.meters.terms[meter.terms.wagers[0]].fed


def _pays_in(meters: Sequence[Meter], game: str, words: PatronWords) -> _GamePays:
    terms = meters[0].terms_in(game)
    wins = {hand: tuple(_wins(meters, row, words)) for hand, row in terms.rows.items()}
    envy = {hand: tuple(_envy(meters, row, words)) for hand, row in terms.rows.items()}
    shown = {hand: wins[hand] or envy[hand] or row.community for hand, row in terms.rows.items()}
    community = {
        (row.hand, share.text): None
        for row in terms.rows.values()
        for meter in meters
        for share in _share(meters, meter, row.community_of(meter.kind), words)
    }
    hands = _shown(terms, shown)
    bad_beat = " ".join(_bad_beat(meters, game, hands, words))
    return _GamePays(hands, wins, envy, tuple(community), bad_beat)


def _bad_beat(
    meters: Sequence[Meter], game: str, hands: Sequence[str], words: PatronWords
) -> Iterator[str]:
    """Yield the sentences about the bad beat of a wager, if it has one."""
    chapter, kind = _game(meters[0], game), meters[0].kind
    beat = next((wager.bad_beat for wager in chapter.wager if kind in wager.fed), None)
    if beat is None:
        return
    rule = words.bad_beat_dealer_rule if beat.beaten_by == "dealer" else words.bad_beat_rule
    yield rule.format(hand=_name(beat.lowest, hands, words))
    yield words.bad_beat_order
    won: dict[BadBeatPart, str] = {
        "loser": words.bad_beat_loser,
        "winner": words.bad_beat_winner,
        "table": words.bad_beat_table,
    }
    for part, sentence in won.items():
        for meter in meters:
            shares = meter.terms_in(game).bad_beat
            for share in _share(meters, meter, shares.of(part) if shares else 0, words):
                yield sentence.format(share=share.text)


def _winners_in(meter: Meter, game: str, words: PatronWords) -> tuple[Winner, ...]:
    terms, in_poker = meter.terms_in(game), names_poker_hands(meter)
    has_joker = any(each.deal.jokers for each in _feeding(meter))
    percents = {hand: row.percent_of(meter.kind) for hand, row in terms.rows.items()}
    hands = _shown(terms, percents)
    return tuple(
        Winner(
            "",
            words.ace_king_queen if hand == "mini_royal_spades" else _name(hand, hands, words),
            _cards(hand, terms) if in_poker else (),
            hand in _EXACT and in_poker and not has_joker,
            words.share.format(percent=words.percent(percents[hand])),
            percents[hand] == 100,
        )
        for hand in hands
    )


def _shown(terms: MeterTerms, wins: Mapping[str, object]) -> tuple[str, ...]:
    # Royals can share a row.
    return tuple(dict.fromkeys(row.hand for hand, row in terms.rows.items() if wins[hand]))


def _cards(hand: str, terms: MeterTerms) -> tuple[str, ...]:
    """Return example cards of a poker hand."""
    examples = _EXAMPLES_OF_THREE if "mini_royal" in terms.rows else _EXAMPLES
    return tuple((_EXACT.get(hand) or examples.get(hand, "")).split())


def _merged(rankings: Iterable[Iterable[str]]) -> list[str]:
    found: list[str] = []
    for hands in rankings:
        at = 0
        for hand in hands:
            if hand not in found:
                found.insert(at, hand)
            at = found.index(hand) + 1
    return found


def _cells(pays: _GamePays, hand: str) -> Iterator[tuple[Part, ...]]:
    yield pays.wins.get(hand, ())
    if pays.has_envy:
        yield pays.envy.get(hand, ())


def _envy(meters: Sequence[Meter], row: Row, words: PatronWords) -> Iterator[Part]:
    if row.envy_cents:
        yield Part("sum", short_money(row.envy_cents))
    for meter in meters:
        yield from _share(meters, meter, row.envy_of(meter.kind), words)


def _share(
    meters: Sequence[Meter], meter: Meter, percent: Percent, words: PatronWords
) -> Iterator[Part]:
    """Yield the percentage of one of the meters of a wager, unless it is 0."""
    if percent:
        share = words.share_of_it if len(meters) == 1 else words.share_of
        text = share.format(percent=words.percent(percent), meter=words.meter_title(meter))
        yield Part("share", text, meter.meter_id)


def _wins(meters: Sequence[Meter], row: Row, words: PatronWords) -> Iterator[Part]:
    for meter in sorted(meters, key=lambda meter: row.percent_of(meter.kind) != 100):
        percent = row.percent_of(meter.kind)
        if percent == 100:
            title = words.the_meter if len(meters) == 1 else words.meter_title(meter)
            yield Part("whole", title, meter.meter_id)
        else:
            yield from _share(meters, meter, percent, words)
    if fixed_cents := row.fixed_cents(meters[0].wager):
        yield Part("sum", short_money(fixed_cents))
