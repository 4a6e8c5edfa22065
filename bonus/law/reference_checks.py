"""Checks across the sections of a chapter's file: names, cards, positions and limits."""

from collections.abc import Iterator, Sequence
from typing import Final

from bonus.cards import DECK, RANKS
from bonus.errors import nearest
from bonus.hands.rankings import PAI_GOW, RANKINGS
from bonus.law.chapter_file import (
    OF_COMMUNITY,
    OF_DEALER,
    Chapter,
    Deal,
    Limit,
    Main,
    OneTable,
    PrintedTable,
    WagerTables,
)
from bonus.law.game_rankings import ranking_of
from bonus.law.paytables import ChapterError, cell_of, placed, read_cents, read_times
from bonus.wagers import PaidFrom, envy_item, is_envy, is_jackpot, is_on_dealer, is_share

_NUMBERS: Final = ("version", "mini_royal")
"""Names of choices that any chapter can have."""

_CARDS_MAX: Final = 7
"""Largest number of cards of a hand, the dealer or the community.

A message to the service has room for eight cards in each of these.
"""

_POSITIONS_MAX: Final = 99
"""Largest number of positions, as in a message to the service."""

_EXCHANGED: Final = {3: "three_card", 5: "five_card"}
"""The rankings of hands after an exchange, by the number of cards."""

_CARDS_OF_DRAWS: Final = ("hand_and_community", "dealer_and_community")


def check_cards(chapter: Chapter) -> None:
    """Check the numbers of cards, on which the other checks rely."""
    deal = chapter.deal
    for what, cards in (
        ("hand", deal.hand),
        ("dealer", deal.dealer),
        ("community", deal.community),
    ):
        if cards > _CARDS_MAX:
            reason = f"{what} has {cards} cards; at most {_CARDS_MAX} are possible"
            raise ChapterError(reason, ("deal", what))
    if deal.exchange:
        _check_exchange(chapter)
    _check_joker(chapter)
    for number, tables in enumerate(chapter.wager):
        if problem := _first_cards_problem(deal, tables):
            of = ", ".join(tables.names)
            raise ChapterError(f"{of}: {problem}", ("wager", number, "community_cards"))


def _check_joker(chapter: Chapter) -> None:
    """Check that a game has a joker if and only if its hands are those of a deck with a joker."""
    deal = chapter.deal
    if deal.jokers not in {0, 1}:
        raise ChapterError("jokers: 0 or 1 is possible", ("deal", "jokers"))
    if deal.jokers:
        for key, other in (
            ("[main]", chapter.main),
            ("[[pattern]]", chapter.pattern),
            ("[[result]]", chapter.result),
            ("several decks", deal.decks > 1),
        ):
            if other:
                raise ChapterError(f"a game with a joker cannot have {key}", ("deal", "jokers"))
    for number, tables in enumerate(chapter.wager):
        if problem := _joker_problem(deal, tables):
            of = ", ".join(tables.names)
            raise ChapterError(f"{of}: {problem}", ("wager", number, "ranking"))


def _joker_problem(deal: Deal, tables: WagerTables) -> str:
    if not deal.jokers:
        lacking = "pai_gow hands are formed from a deck with a joker: write jokers = 1 under [deal]"
        return lacking if tables.ranking == PAI_GOW else ""
    if tables.ranking not in RANKINGS:
        return f"there is no ranking {tables.ranking!r}: is {PAI_GOW} meant?"
    if tables.ranking != PAI_GOW:
        return f'with a joker, write ranking = "{PAI_GOW}"'
    if {*tables.cards} != {"hand"}:
        return f'{PAI_GOW} hands are formed from the player\'s own cards: write cards = ["hand"]'
    for key in ("draws", "mini_royal", "fourth_card", "readings"):
        if getattr(tables, key):
            return f"{key} is not for {PAI_GOW} hands"
    return ""


def _check_exchange(chapter: Chapter) -> None:
    """Check that the best exchange can be counted, and does not depend on the other players."""
    deal = chapter.deal
    if not 0 < deal.exchange <= deal.hand:
        reason = f"exchange is {deal.exchange}: write a number from 1 to {deal.hand}"
        raise ChapterError(reason, ("deal", "exchange"))
    for key, other in (
        ("[main]", chapter.main),
        ("[[pattern]]", chapter.pattern),
        ("[[result]]", chapter.result),
        ("several decks", deal.decks > 1),
        ("a joker", deal.jokers),
        ("cards of the dealer", deal.dealer),
        ("community cards", deal.community),
    ):
        if other:
            reason = f"a game in which players exchange cards cannot have {key}"
            raise ChapterError(reason, ("deal", "exchange"))
    for number, tables in enumerate(chapter.wager):
        if problem := _exchange_problem(deal, tables):
            of = ", ".join(tables.names)
            raise ChapterError(f"{of}: {problem}", ("wager", number))


def _exchange_problem(deal: Deal, tables: WagerTables) -> str:
    if {*tables.cards} != {"hand"}:
        return 'where players exchange cards, write cards = ["hand"]'
    if tables.ranking != _EXCHANGED.get(deal.hand):
        return (
            "where players exchange cards, they get five cards with the ranking five_card, or three"
            " with the ranking three_card"
        )
    for key in ("draws", "mini_royal", "fourth_card", "readings", "bad_beat"):
        if getattr(tables, key):
            return f"{key} is not for a game in which players exchange cards"
    if any("$" in cell for cell in tables.cells):
        return "where players exchange cards, write odds or percentages instead of fixed sums"
    if any(hand.endswith("_spades") for table in tables.table for hand in table.pays):
        return "where players exchange cards, a royal pays the same in every suit"
    return ""


def _first_cards_problem(deal: Deal, tables: WagerTables) -> str:
    """Return what is wrong with a wager on the first community cards; empty if nothing is."""
    count = tables.community_cards
    if not count:
        return ""
    if not OF_COMMUNITY.issuperset(tables.cards):
        return "community_cards is for a wager on community cards"
    if tables.draws:
        return "community_cards is not for a wager with draws"
    if deal.community < 2:
        dealt = "one community card" if deal.community else "no community cards"
        return f"community_cards is {count}, but the game deals {dealt}: leave community_cards out"
    if not 0 < count < deal.community:
        return (
            f"community_cards is {count}: write a number from 1 to {deal.community - 1}, or leave"
            f" it out if all {deal.community} community cards count"
        )
    return ""


def check_consistency(chapter: Chapter) -> None:
    optional = [name for tables in chapter.wager for name in tables.names]
    names = [*chapter.main_wagers, *optional]
    _once(names, "has two entries")
    _once(_choices(chapter), "is the name of two choices")
    _once([version.name for version in chapter.version], "is the name of two versions")
    _once(
        [meter for tables in chapter.wager for meter in tables.fed],
        "is fed by two sections [[wager]]",
    )
    _once([meter.name for meter in chapter.meter], "is the name of two meters")
    envy = [envy_item(tables.names[0]) for tables in chapter.wager if tables.envy]
    _once(envy, "is the name of the Envy Bonuses of two wagers: give one wager another name")
    if len([tables for tables in chapter.wager if tables.draws]) > 1:
        raise ChapterError("two wagers have draws, but the system makes one draw in a round")
    if chapter.main:
        _check_main(chapter.main)
    for number, tables in enumerate(chapter.wager):
        with placed("wager", number):
            _check_wager(chapter, tables)
            _check_meter(chapter, tables)
    fed = {meter for tables in chapter.wager for meter in tables.fed}
    for number, meter in enumerate(chapter.meter):
        if meter.name == "meter":
            reason = (
                "in a cell, meter means the only meter of the wager: give this meter another name"
            )
            raise ChapterError(reason, ("meter", number, "name"))
        if meter.name not in fed:
            raise ChapterError(f"{meter.name}: no wager feeds this meter", ("meter", number))
    _check_versions(chapter, names)
    feeding = {name for tables in chapter.wager if tables.fed for name in tables.names}
    for name in chapter.irregular.settled:
        if name not in optional or name in feeding:
            raise ChapterError(f"settled: {name!r} must be an optional wager that feeds no meter")
    if chapter.limit:
        _check_limit(chapter, chapter.limit)
    with placed("deal"):
        _check_deal(chapter)


def _check_versions(chapter: Chapter, names: Sequence[str]) -> None:
    for version in chapter.version:
        for bound in version.bounds:
            if bound.at_most < 1 or not {bound.wager, bound.of} <= set(names):
                raise ChapterError(
                    f"{version.rule}: limit a wager to 1 or more times another wager of the game"
                )
    chosen = [bonus.table for bonus in chapter.main_bonuses if bonus.choice and chapter.version]
    others = [bonus.table for bonus in chapter.main_bonuses if not chosen or not bonus.choice]
    for tables in [*others, *(wager.table for wager in chapter.wager)]:
        for table in tables:
            if table.version:
                raise ChapterError(
                    f"{table.rule}: version is for the paytables of a bonus with a choice, in a"
                    " game with [[version]]"
                )


def _once(names: Sequence[str], reason: str) -> None:
    for name in names:
        if names.count(name) > 1:
            raise ChapterError(f"{name} {reason}")


def _choices(chapter: Chapter) -> list[str]:
    found = [*_NUMBERS, *(bonus.choice for bonus in chapter.main_bonuses if bonus.choice)]
    for tables in chapter.wager:
        found.append(tables.names[0])
        if tables.readings:
            found.append(tables.readings.choice)
    return [*found, chapter.limit.choice] if chapter.limit else found


def _check_main(main: Main) -> None:
    if main.not_qualified and main.ranking != "three_card":
        raise ChapterError(f"{main.stake}: not_qualified is only for three_card hands")
    if not main.tie.pays and not main.tie.rule:
        raise ChapterError(f"{main.stake}: a tie that returns wagers must name a subsection")
    if main.tie.pays and main.tie.rule:
        raise ChapterError(f"{main.stake}: a tie that pays must not name a subsection")


def _check_wager(chapter: Chapter, tables: WagerTables) -> None:
    of = tables.names[0]
    # Only the stake, and wagers that need no other wager, can be placed first.
    first = set(chapter.main_wagers[:1])
    for others in chapter.wager:
        first |= set() if others.needs else set(others.names)
    for need in tables.needs:
        if need not in first:
            raise ChapterError(f"{of}: it needs {need!r}, which cannot be placed first")
    if tables.paid_from is PaidFrom.HAND_PAY:
        raise ChapterError(f"{of}: only a percentage of a meter is a hand pay")
    if tables.fourth_card and tables.fourth_card.rank not in [*RANKS]:
        raise ChapterError(f"{of}: the rank of the fourth card does not exist: use one of {RANKS}")


def _check_meter(chapter: Chapter, tables: WagerTables) -> None:
    of = tables.names[0]
    known = [meter.name for meter in chapter.meter]
    for meter in tables.fed:
        if meter not in known:
            message = f"{of}: there is no [[meter]] with the name {meter!r}{nearest(meter, known)}"
            raise ChapterError(message)
    if tables.fed and tables.validation is None:
        raise ChapterError(f"{of}: a wager that feeds a meter needs a validation")
    if tables.fed and len(tables.short) != len(tables.names):
        raise ChapterError(f"{of}: each wager that feeds a meter needs one short name")
    if not tables.fed and (tables.validation or tables.short or tables.electronic):
        raise ChapterError(
            f"{of}: it feeds no meter, so leave out validation, short and electronic"
        )
    if tables.validation and tables.validation.least:
        with cell_of(f"{of} {tables.validation.rule}", tables.validation.least):
            read_times(tables.validation.least, "for")
    if tables.draws:
        _check_draws(of, tables)
    elif tables.fed and len(tables.names) > 1:
        raise ChapterError(f"{of}: two wagers can feed one meter only with draws")
    if tables.fed:
        _check_judged(of, tables)
    _check_names(tables)


def _check_draws(of: str, tables: WagerTables) -> None:
    if tables.cards != _CARDS_OF_DRAWS:
        raise ChapterError(f"{of}: draws need wagers on the player's and the dealer's hand")
    if not tables.divided:
        raise ChapterError(f"{of}: the subsection that divides a jackpot is missing")
    schedules = tables.envy.schedule if tables.envy else ()
    if (
        tables.community
        or tables.bad_beat
        or any("%" in cell for each in schedules for cell in each.pays.values())
    ):
        raise ChapterError(f"{of}: a wager with draws brings no shares of the meter")


def _check_judged(of: str, tables: WagerTables) -> None:
    """Refuse a wager if the meter service does not get all cards that decide it."""
    if tables.fourth_card or tables.readings or tables.mini_royal:
        raise ChapterError(
            f"{of}: a wager that feeds a meter has no fourth_card, readings or mini_royal"
        )
    if "hand_and_all_six" in tables.cards:
        raise ChapterError(f"{of}: the All-Six card cannot decide a wager that feeds a meter")
    if "dealer_and_community" in tables.cards and not tables.draws:
        raise ChapterError(
            f"{of}: only a wager with draws can feed a meter and be on the dealer's and the"
            " community cards"
        )
    if "dealer" in tables.cards:
        _check_shared(of, tables)
    elif tables.divided and not tables.draws:
        raise ChapterError(
            f"{of}: divided is for wagers on the dealer's cards or the table's result"
        )


def _check_shared(of: str, tables: WagerTables) -> None:
    """Check a wager on the dealer's cards or the table's result: its players win together."""
    if not tables.divided:
        raise ChapterError(
            f"{of}: several players can win this wager together: name the section under which they"
            " divide a percentage of the meter, `divided`"
        )
    if tables.forfeited:
        raise ChapterError(f"{of}: a fold does not forfeit a wager on the dealer's cards or result")
    if tables.envy or tables.community or tables.bad_beat:
        what = "Envy Bonus" if tables.envy else "community share"
        what = what if tables.envy or tables.community else "bad beat"
        raise ChapterError(f"{of}: there is no {what} for what every player of a wager wins")
    if tables.meters or any(" + " in cell for cell in tables.cells):
        raise ChapterError(
            f"{of}: a wager on the dealer's cards or the table's result feeds one meter, and wins"
            " either a percentage of it or a fixed payout"
        )


def _check_names(tables: WagerTables) -> None:
    """Check the names from which other parts of the program know the kind of a wager."""
    for name, cards in zip(tables.names, tables.cards, strict=True):
        if is_envy(name):
            raise ChapterError(f"{name}: only an Envy Bonus has a name that ends with _envy")
        if is_jackpot(name):
            raise ChapterError(f"{name}: only a jackpot has a name that ends with _jackpot")
        if is_share(name):
            raise ChapterError(
                f"{name}: only a share of a meter has a name that ends with _community_share,"
                " _envy_share, _bad_beat_loser, _bad_beat_winner or _bad_beat_table"
            )
        if tables.fed and is_on_dealer(name) != (cards == "dealer_and_community"):
            raise ChapterError(
                f"{name}: a wager on the dealer's and the community cards, and no other, has a name"
                " that ends with _dealer"
            )


def _check_limit(chapter: Chapter, limit: Limit) -> None:
    with cell_of(f"limit {limit.rule}", limit.least):
        read_cents(limit.least)
    paying = {table.rule for table in _tables(chapter)}
    if chapter.main:
        paying.add(chapter.main.odds_rule)
    for rule in limit.covers:
        if rule not in paying:
            raise ChapterError(f"{limit.rule}: the limit covers {rule}, which pays nothing")
    if not limit.covers:
        raise ChapterError(f"{limit.rule}: the limit covers nothing")
    hands = {hand for tables in chapter.wager for hand in ranking_of(chapter, tables.ranking).names}
    for hand in limit.excluded:
        if hand not in hands:
            raise ChapterError(f"{limit.rule}: {hand!r} is not a hand of {chapter.game}")


def _tables(chapter: Chapter) -> Iterator[PrintedTable | OneTable]:
    if chapter.main and chapter.main.follow_pays:
        yield chapter.main.follow_pays
    for bonus in chapter.main_bonuses:
        yield from bonus.table
    for tables in chapter.wager:
        yield from tables.table
        if tables.fourth_card:
            yield from tables.fourth_card.table


def _check_deal(chapter: Chapter) -> None:
    deal = chapter.deal
    every = [
        sum(deal.judged(cards, tables.community_cards))
        for tables in chapter.wager
        for cards in tables.cards
    ]
    largest = max(every, default=0)
    if deal.positions > _POSITIONS_MAX:
        raise ChapterError(f"{deal.rule}: at most {_POSITIONS_MAX} positions are possible")
    least = 0 if chapter.result else 1
    if min(deal.positions, deal.hand + 1 - least, deal.dealer + 1, deal.community + 1) < 1:
        raise ChapterError(f"{deal.rule}: a deal needs a position, and a card for each")
    _check_dealt(chapter)
    if chapter.result:
        return
    shared = max(deal.dealer + deal.community, largest - deal.hand)
    if deal.positions * (deal.hand + deal.exchange) + shared > len(DECK) * deal.decks + deal.jokers:
        deck = "one deck is" if deal.decks == 1 else f"{deal.decks} decks are"
        raise ChapterError(f"{deal.rule}: {deck} not enough for {deal.positions} hands")


def _check_dealt(chapter: Chapter) -> None:
    for tables in chapter.wager:
        for name, cards in zip(tables.names, tables.cards, strict=True):
            if cards in OF_COMMUNITY and not chapter.deal.community:
                raise ChapterError(f"{name}: the game deals no community cards")
            if cards in OF_DEALER and not chapter.deal.dealer:
                raise ChapterError(f"{name}: the game deals no cards to the dealer")
    if chapter.main and not chapter.deal.dealer:
        raise ChapterError(f"{chapter.main.stake}: the game deals no cards to the dealer")
