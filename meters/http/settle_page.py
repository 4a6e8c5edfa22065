"""The page on which a person settles a whole round by hand, to decide a dispute.

The service and the panel of a table serve the same page. The page sends the round to its server,
which settles it like `pitlink settle`. Nothing is stored.

A person enters the round in a form. Its fields depend on the chapter of the table's game, and on
the paytables in the floor file for the table.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Final

import msgspec

from bonus.display import item_words
from bonus.json_input import has_name_twice
from bonus.law.chapter_file import OF_COMMUNITY
from bonus.law.choices import Choices
from bonus.law.games import Games
from bonus.rounds import RoundError, SettlementText
from bonus.settling.settle_round import settle_line
from bonus.settling.table_rules import TableRules, table_rules
from meters.floor.facility import DEMONSTRATION_MARK, Facility
from meters.floor.floor_file import Link, Meter, Table, paytables_of_meters
from meters.http.page_files import SHARED, load_template

_TEMPLATE: Final = load_template(SHARED, "settle_page.html")


class RoundProblem(msgspec.Struct, frozen=True):
    """An error of a round.

    Attributes:
        code: the reason for programs.
        message: the reason for people.
        field: the wrong field of the round; null if no single field is wrong.
    """

    code: str
    message: str
    field: str | None


def problems_of(error: RoundError) -> tuple[RoundProblem, ...]:
    return tuple(RoundProblem(each.code, each.message, each.field) for each in error.all)


@dataclass(frozen=True, slots=True)
class SettlePage:
    """The page "Settle a round" of one server. `version` is the version of its static files.

    If `signs_in` is true, a user must sign in before the server settles a round.
    """

    facility: Facility
    version: str
    home: str
    home_name: str
    signs_in: bool

    def render(
        self, tables: Sequence[tuple[Link, Table]], balances: Mapping[tuple[str, str], int]
    ) -> str:
        """Return the HTML of the page for tables. The links must have their present terms.

        `balances` are in cents, by link id and meter id.
        """
        forms = msgspec.json.encode(floor_forms(tables, balances)).decode()
        return _TEMPLATE.render(page=self, forms=forms, mark=DEMONSTRATION_MARK)


def settle_body(body: bytes, games: Games) -> SettlementText:
    """Settle the round in a request's body, or raise a `RoundError`."""
    settled = settle_line(body, games)
    if has_name_twice(body):
        raise RoundError("malformed", "the round names a field twice")
    return settled


class _Form(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    pass


class WagerField(_Form, frozen=True, kw_only=True):
    """The field for a wager that a table offers.

    `amount` is in cents; None if the player chooses it. `meters` are the kinds of the meters that
    the wager feeds, and `smaller` the smaller amounts that it can have on them. If `draws` is true,
    the Magic Card and the Lucky Bonus can add to the payout of the wager. If `survives` is true,
    the wager stays when the hand folds, so the form still asks for the cards of the hand.
    """

    wager: str
    words: str
    amount: int | None = None
    meters: tuple[str, ...] = ()
    smaller: tuple[int, ...] = ()
    community: bool = False
    fourth_card: bool = False
    all_six: bool = False
    draws: bool = False
    survives: bool = False


class GameForm(_Form, frozen=True, kw_only=True):
    """The form for a round of one game, for tables with the same choices in the floor file.

    Attributes:
        results: the results that can be entered, if the game has results and no cards.
        decks: how often each card can be entered; 0 if the game has results.
        hand: how many cards a position has.
        dealer: how many cards the dealer has.
        community: how many community cards there are.
        stake: the wager before the deal. If a player does not make the wager ``follow`` after the
            deal, the player folds.
        times: the allowed amounts of `follow`, as multiples of `stake`.
        wagers: the wagers that the table offers, in the order of settling.
        items: for each item of settlement lines, its name for people.
        missing: why rounds of this table cannot be settled; empty if they can be settled.
        first_community_cards: the numbers of first community cards that wagers are on, such as 3
            for a wager on the flop. If there are any, the order of the community cards matters.
        joker: true if the deck has a joker.
    """

    game: str
    title: str
    chapter: str
    paytables: Choices
    results: tuple[str, ...]
    decks: int
    hand: int
    dealer: int
    community: int
    stake: str
    follow: str
    times: tuple[int, ...]
    wagers: tuple[WagerField, ...]
    items: Mapping[str, str]
    missing: str = ""
    first_community_cards: tuple[int, ...]
    joker: bool = False


class TableForm(_Form, frozen=True, kw_only=True):
    """A table. `form` is the index of its form in `FloorForms.games`.

    `meters` has the balance of each meter by its kind. `kinds` has the kind of each meter by its
    id.
    """

    table: str
    asset: str
    link: str
    positions: int
    form: int
    meters: Mapping[str, int | None]
    kinds: Mapping[str, str]


class FloorForms(_Form, frozen=True, kw_only=True):
    """The tables and their forms. Tables with the same game, choices and meters share a form."""

    games: tuple[GameForm, ...]
    tables: tuple[TableForm, ...]


def floor_forms(
    tables: Sequence[tuple[Link, Table]], balances: Mapping[tuple[str, str], int]
) -> FloorForms:
    """Return the forms. In `tables`, each meter must have the wager in force, not the filed one."""
    forms: list[GameForm] = []
    numbers: dict[tuple[str, bytes, tuple[Meter, ...]], int] = {}
    found = []
    for link, table in tables:
        meters = link.meters_of(table)
        chosen = {**table.paytables, **paytables_of_meters(table, meters.values())}
        choices = msgspec.json.encode(chosen, order="deterministic")
        number = numbers.setdefault((table.game, choices, tuple(meters.values())), len(forms))
        if number == len(forms):
            forms.append(_game_form(table, chosen, meters))
        found.append(
            TableForm(
                table=table.id,
                asset=table.asset,
                link=link.name,
                positions=table.positions,
                form=number,
                meters={
                    kind: balances.get((link.id, meter.meter_id)) for kind, meter in meters.items()
                },
                kinds={meter.meter_id: kind for kind, meter in meters.items()},
            )
        )
    return FloorForms(games=tuple(forms), tables=tuple(found))


def _game_form(table: Table, chosen: Choices, fed: Mapping[str, Meter]) -> GameForm:
    chapter = table.chapter
    titles = table.games.titles
    rules = table_rules(chapter, chosen)
    main = chapter.main
    offered = {
        name: placing
        for name, placing in rules.placings.items()
        if not placing.choice and (fed.keys() >= set(placing.meters))
    }
    draws = {name for wager in chapter.wager if wager.draws for name in wager.names}
    items = [
        *rules.placings,
        *fed,  # the kinds of the meters
        *(bonus.item for bonus in chapter.main_bonuses),
        *(item for item, kind in rules.meters.meter_of.items() if kind in fed),
    ]
    return GameForm(
        game=table.game,
        title=chapter.title,
        chapter=chapter.chapter,
        paytables=chosen,
        results=rules.deck.names if chapter.result else (),
        decks=rules.deck.copies,
        hand=chapter.deal.hand,
        dealer=chapter.deal.dealer,
        community=chapter.deal.community,
        stake=main.stake if main else "",
        follow=main.follow if main else "",
        times=main.times if main else (),
        wagers=tuple(
            WagerField(
                wager=name,
                words=item_words(name, titles),
                amount=fed[placing.meters[0]].wager if placing.meters else None,
                meters=placing.meters,
                smaller=fed[placing.meters[0]].smaller_wagers if placing.meters else (),
                community=placing.cards in OF_COMMUNITY,
                fourth_card=placing.fourth_card,
                all_six=placing.cards == "hand_and_all_six",
                draws=name in draws,
                survives=name in rules.survivors,
            )
            for name, placing in offered.items()
        ),
        items={item: item_words(item, titles) for item in items},
        missing=_missing(rules),
        first_community_cards=chapter.first_community_cards,
        joker=chapter.deal.jokers > 0,
    )


def _missing(rules: TableRules) -> str:
    main = rules.chapter.main
    placing = rules.placings[main.stake] if main else None
    if placing is None or not placing.choice:
        return ""
    return (
        f"The floor file has no {placing.choice} for this table ({placing.choice_rule}), so its "
        f"rounds cannot be settled here. A technician adds {placing.choice} under paytables of the "
        "table."
    )
