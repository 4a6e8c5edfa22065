"""The forms in which a person enters a round at a table: wagers, hands and common cards.

Their fields depend on the chapter of the table's game, and on the paytables that the floor file
chooses for the table. The same code makes the forms of all games.
"""

from collections.abc import Mapping, Sequence
from functools import lru_cache

import msgspec

from bonus.display import item_words
from bonus.law.chapter_file import OF_COMMUNITY
from bonus.law.choices import Choices
from bonus.law.games import Games
from bonus.settling.table_rules import Placing, TableRules, table_rules
from meters.floor.floor_file import Link, Meter, Table, paytables_of_meters

_Key = tuple[Games, str, bytes, tuple[Meter, ...]]
"""The games of the floor, a table's game, its choices as JSON, and the meters that it feeds."""


class _Form(msgspec.Struct, frozen=True, kw_only=True, omit_defaults=True):
    """Base class of the parts of a form."""


class WagerField(_Form, frozen=True, kw_only=True):
    """The field for a wager that a table offers.

    Attributes:
        words: the name of the wager for people.
        amount: the only amount of the wager, in cents; None if the player chooses the amount.
        meters: the kinds of meter that the wager feeds.
        draws: true if the wager is paid on the Magic Card and the Lucky Bonus.
        survives: true if the player keeps the wager after a fold, so the cards of a folded hand
            stay.
    """

    wager: str
    words: str
    amount: int | None = None
    meters: tuple[str, ...] = ()
    community: bool = False
    fourth_card: bool = False
    all_six: bool = False
    draws: bool = False
    survives: bool = False


class GameForm(_Form, frozen=True, kw_only=True):
    """The form for a round of one game, at tables with the same choices in the floor file.

    Attributes:
        paytables: the choices in the floor file, such as the paytable of each wager.
        hand: the number of cards that each position is dealt; ``dealer`` and ``community`` are the
            numbers of the others, or 0.
        stake: the wager before the deal. A player who does not make ``follow`` after it folds.
        times: the allowed amounts of `follow`, as multiples of `stake`.
        wagers: the wagers that the table offers, in the order in which the dealer settles them.
        items: the items that a settlement line can have, each with its name for people.
        missing: the reason why rounds of this table cannot be settled; empty if they can be.
    """

    game: str
    title: str
    chapter: str
    paytables: Choices
    hand: int
    dealer: int
    community: int
    stake: str
    follow: str
    times: tuple[int, ...]
    wagers: tuple[WagerField, ...]
    items: Mapping[str, str]
    missing: str = ""


class TableForm(_Form, frozen=True, kw_only=True):
    """A table, with the index of its form in `FloorForms.games`.

    `meters` has the present balance in cents of each meter that the table feeds, by kind of meter;
    None if it is unknown.
    """

    table: str
    asset: str
    link: str
    positions: int
    form: int
    meters: Mapping[str, int | None]


class FloorForms(_Form, frozen=True, kw_only=True):
    """The tables and their forms. Tables with the same game, choices and meters share a form."""

    games: tuple[GameForm, ...]
    tables: tuple[TableForm, ...]


def floor_forms(
    tables: Sequence[tuple[Link, Table]], balances: Mapping[tuple[str, str], int]
) -> FloorForms:
    """Return the tables and the forms that the page needs to enter rounds of these tables.

    The meters of the links must have their present wagers. `balances` are in cents, by link id and
    meter id.
    """
    games: dict[_Key, int] = {}
    found = []
    for link, table in tables:
        meters = link.meters_of(table)
        key = (table.games, table.game, _choices(table, meters), tuple(meters.values()))
        found.append(
            TableForm(
                table=table.id,
                asset=table.asset,
                link=link.name,
                positions=table.positions,
                form=games.setdefault(key, len(games)),
                meters={
                    kind: balances.get((link.id, meter.meter_id)) for kind, meter in meters.items()
                },
            )
        )
    return FloorForms(games=tuple(_game_form(*key) for key in games), tables=tuple(found))


def _choices(table: Table, meters: Mapping[str, Meter]) -> bytes:
    chosen = {**table.paytables, **paytables_of_meters(table, meters.values())}
    return msgspec.json.encode(chosen, order="deterministic")


@lru_cache(maxsize=256)
def _game_form(games: Games, game: str, choices: bytes, meters: tuple[Meter, ...]) -> GameForm:
    chapter = games[game]
    chosen = msgspec.json.decode(choices, type=dict[str, str | int | dict[str, int]])
    rules = table_rules(chapter, chosen)
    amounts_cents = {meter.kind: meter.wager for meter in meters}
    main = chapter.main
    offered = {
        name: placing
        for name, placing in rules.placings.items()
        if not placing.choice and (amounts_cents.keys() >= set(placing.meters))
    }
    draws = {name for wager in chapter.wager if wager.draws for name in wager.names}
    items = [
        *rules.placings,
        *(bonus.item for bonus in chapter.main_bonuses),
        *(item for item, kind in rules.meters.meter_of.items() if kind in amounts_cents),
    ]
    return GameForm(
        game=game,
        title=chapter.title,
        chapter=chapter.chapter,
        paytables=chosen,
        hand=chapter.deal.hand,
        dealer=chapter.deal.dealer,
        community=chapter.deal.community,
        stake=main.stake if main else "",
        follow=main.follow if main else "",
        times=main.times if main else (),
        wagers=tuple(
            _field(
                name,
                item_words(name, games.titles),
                placing,
                amounts_cents,
                draws=name in draws,
                survives=name in rules.survivors,
            )
            for name, placing in offered.items()
        ),
        items={item: item_words(item, games.titles) for item in items},
        missing=_missing(rules),
    )


def _field(
    name: str,
    words: str,
    placing: Placing,
    amounts_cents: Mapping[str, int],
    *,
    draws: bool,
    survives: bool,
) -> WagerField:
    return WagerField(
        wager=name,
        words=words,
        amount=amounts_cents[placing.meters[0]] if placing.meters else None,
        meters=placing.meters,
        community=placing.cards in OF_COMMUNITY,
        fourth_card=placing.fourth_card,
        all_six=placing.cards == "hand_and_all_six",
        draws=draws,
        survives=survives,
    )


def _missing(rules: TableRules) -> str:
    """Return why the wagers against the dealer cannot be settled; empty if they can be."""
    main = rules.chapter.main
    placing = rules.placings[main.stake] if main else None
    if placing is None or not placing.choice:
        return ""
    return (
        f"The floor file has no {placing.choice} for this table ({placing.choice_rule}), so its "
        f"rounds cannot be settled here. A technician adds {placing.choice} under paytables of the "
        "table."
    )
