"""Random valid rounds of the three games. They try every wager that is possible."""

from random import Random

from tests.naive.decks import DECK, deal
from tests.naive.shapes import Box, Draw, Meter, Paytables, Round

Positions = list[int]

DECLARED = 0.05
"""Part of the rounds in which hands may be declared to win nothing."""

SURVIVE_A_FOLD = (
    "six_card_bonus", "five_card_hand_bonus", "five_card_hand_bonus_dealer",
    "five_of_six_progressive",
)  # fmt: skip
ANTE_CHOICES_CENTS = (100, 500, 1000, 1500, 2500, 10_000, 123_45)
LARGE_ANTE_CHOICES_CENTS = (10_000_00, 24_999_99, 30_000_00, 75_000_00)


def random_round(game: str, rng: Random) -> Round:
    """Return a round of a game. The same state of ``rng`` makes the same round.

    The round is valid, except that the cards of a hand that was declared to win nothing may be
    needed.
    """
    games = {"three_card_poker": three_card_poker, "three_card_prime": three_card_prime}
    played = games.get(game, four_card_prime)(rng)
    return declare_some(rng, played) if rng.random() < DECLARED else played


def declare_some(rng: Random, played: Round) -> Round:
    """Have the dealer declare that some hands win nothing, at times wrongly."""
    for box in played["positions"]:
        if "cards" in box and rng.random() < 0.4 and (not box["folded"] or rng.random() < 0.05):
            box["no_win"] = True
            if rng.random() < 0.97:
                del box["cards"]
                box.pop("fourth_card", None)
    return played


def some_positions(rng: Random, most: int) -> Positions:
    return rng.sample(range(1, most + 1), rng.randint(1, most))


def seat_patrons(rng: Random, boxes: list[Box]) -> None:
    """Seat patrons: no names, a name for each position, or fewer patrons than positions."""
    how = rng.random()
    if how < 0.3:
        return
    patrons = len(boxes) if how < 0.5 else rng.randint(1, len(boxes))
    # Neighbours often share a patron, and somebody may stay without a name.
    for index, box in enumerate(sorted(boxes, key=lambda box: box["position"])):
        if rng.random() < 0.95:
            box["patron"] = f"p{index * patrons // len(boxes) + 1}"


def random_irregularity(rng: Random, played: Round) -> None:
    how = rng.random()
    if how < 0.02:
        played["irregularity"] = "void"
    elif how < 0.04:
        played["irregularity"] = "dealer_exposed"
    if "irregularity" in played and rng.random() < 0.5:
        # It ended before anybody was asked whether they play on.
        for box in played["positions"]:
            box["folded"] = False
            for follow in ("play", "raise"):
                box["wagers"].pop(follow, None)


def random_limit(rng: Random, paytables: Paytables) -> bool:
    """Return a payout limit for some tables, and whether wagers should be large enough for it."""
    if rng.random() < 0.4:
        paytables["payout_limit"] = rng.choice([5_000_000, 5_000_001, 7_654_321, 20_000_000])
        return rng.random() < 0.7
    return False


# --- Three Card Poker ---


def three_card_poker(rng: Random) -> Round:
    positions = some_positions(rng, 7)
    paytables = paytables_649a(rng)
    meters = meters_649a(rng)
    boxes: list[Box] = [
        {"position": position, "folded": False, "wagers": wagers_649a(rng, paytables, meters)}
        for position in positions
    ]
    made = {wager for box in boxes for wager in box["wagers"]}
    needs_community = bool(
        made & {"five_card_progressive", "five_card_hand_bonus", "five_card_hand_bonus_dealer"}
    )
    sizes = {"dealer": 3, **{str(position): 3 for position in positions}}
    if needs_community:
        sizes["community"] = 2
    dealt = deal(rng, sizes)
    for box in boxes:
        box["cards"] = dealt[str(box["position"])]
        play_or_fold(rng, box)
    seat_patrons(rng, boxes)
    played: Round = {
        "game": "three_card_poker",
        "paytables": paytables,
        "positions": boxes,
        "dealer": dealt["dealer"],
    }
    if needs_community:
        played["community"] = dealt["community"]
    if rng.random() < 0.7:
        played["draw"] = random_draw(rng, dealt)
    named = {meter_of(wager) for wager in made} & set(meters)
    kept = {name: meter for name, meter in meters.items() if name in named or rng.random() < 0.1}
    if kept:
        fill(rng, kept, boxes)
        played["meters"] = kept
        if "progressive" in kept:
            paytables.setdefault("progressive", rng.choice("AB"))
    random_irregularity(rng, played)
    return played


def paytables_649a(rng: Random) -> Paytables:
    paytables: Paytables = {"pair_plus": rng.choice("ABCDE")}
    if rng.random() < 0.45:
        paytables["version"] = rng.randint(1, 3)
    subsection = "c-" if "version" in paytables else "b-"
    paytables["ante_bonus"] = subsection + rng.choice("ABC")
    if rng.random() < 0.4:
        paytables["mini_royal"] = {}
        if paytables["ante_bonus"].startswith("b-") and rng.random() < 0.7:
            paytables["mini_royal"]["ante_bonus"] = rng.choice([5, 6, 10, 50])
        if rng.random() < 0.7:
            paytables["mini_royal"]["pair_plus"] = rng.choice([40, 50, 200])
        if not paytables["mini_royal"]:
            del paytables["mini_royal"]
    if rng.random() < 0.8:
        paytables["progressive"] = rng.choice("AB")
    if rng.random() < 0.8:
        paytables["six_card_bonus"] = rng.choice("ABCDEEE")
    return paytables


def meters_649a(rng: Random) -> dict[str, Meter]:
    meters: dict[str, Meter] = {
        name: {"wager": rng.choice([100, 100, 500])}
        for name in ("progressive", "five_card_progressive", "five_of_six_progressive")
        if rng.random() < 0.75
    }
    if rng.random() < 0.75:
        # No Envy Bonus, and so no schedule of amounts.
        meters["five_card_hand_bonus"] = {"wager": rng.choice([100, 100, 500, 250, 333])}
    return meters


def meter_of(wager: str) -> str:
    return "five_card_hand_bonus" if wager == "five_card_hand_bonus_dealer" else wager


def wagers_649a(rng: Random, paytables: Paytables, meters: dict[str, Meter]) -> dict[str, int]:
    """Return the wagers before the deal, within the table's version of 649a.7(e)."""
    ante = rng.choice(ANTE_CHOICES_CENTS)
    wagers: dict[str, int] = {}
    version = paytables.get("version")
    if version == 3:
        wagers["ante"] = ante
        wagers["pair_plus"] = rng.choice([ante, 5 * ante, rng.randint(-(-ante // 5), 5 * ante)])
    elif version is not None:
        wagers["ante"] = ante
        most = ante if version == 1 else 2 * ante
        if rng.random() < 0.6:
            wagers["pair_plus"] = rng.choice([most, rng.randint(1, most)])
    else:
        which = rng.random()
        if which < 0.85:
            wagers["ante"] = ante
        if which >= 0.85 or rng.random() < 0.5:
            wagers["pair_plus"] = rng.choice(ANTE_CHOICES_CENTS)
    if "six_card_bonus" in paytables and rng.random() < 0.5:
        wagers["six_card_bonus"] = rng.choice([100, 500, 2500, 777])
    for wager in (
        "progressive",
        "five_card_progressive",
        "five_of_six_progressive",
        "five_card_hand_bonus",
        "five_card_hand_bonus_dealer",
    ):
        offered = meter_of(wager) in meters and (wager != "progressive" or wager in paytables)
        if offered and rng.random() < 0.55:
            wagers[wager] = meters[meter_of(wager)]["wager"]
    return wagers


def play_or_fold(rng: Random, box: Box) -> None:
    """Play or fold each position with an Ante. Folded cards may be gone from the table."""
    wagers = box["wagers"]
    if "ante" not in wagers:
        return
    if rng.random() < 0.75:
        wagers["play"] = wagers["ante"]
        return
    box["folded"] = True
    if not any(wager in wagers for wager in SURVIVE_A_FOLD) and rng.random() < 0.6:
        del box["cards"]


def random_draw(rng: Random, dealt: dict[str, list[str]]) -> Draw:
    """Draw a Magic Card and a Lucky position. Cards on the table come more often."""
    draw: Draw = {"magic_card": None, "lucky_position": None}
    if rng.random() < 0.6:
        seen = [card for hand in dealt.values() for card in hand]
        draw["magic_card"] = rng.choice(seen if rng.random() < 0.6 else DECK)
    if rng.random() < 0.6:
        choices: list[int | str] = [*range(1, 8), "dealer", "dealer"]
        draw["lucky_position"] = rng.choice(choices)
    return draw


def fill(rng: Random, meters: dict[str, Meter], boxes: list[Box]) -> None:
    """Fill the meters with at least what this round's wagers added."""
    for name, meter in meters.items():
        wagered = sum(
            cents
            for box in boxes
            for wager, cents in box["wagers"].items()
            if meter_of(wager) == name
        )
        seed = meter["wager"] * (1_000 if name == "progressive" else 10_000)
        # No meter takes more than 28 cents of a dollar, and the reserve takes 8.
        least = -(-28 * wagered // 100)
        meter["amount"] = least + rng.choice([0, 7, seed, rng.randint(0, 3 * seed)])
        if name == "five_card_hand_bonus":
            least = -(-8 * wagered // 100)
            meter["reserve"] = least + rng.choice([0, 1, rng.randint(0, seed)])
            if not wagered and rng.random() < 0.5:
                del meter["reserve"]
        if meter["amount"] and rng.random() < 0.4:
            limit_meter(rng, meter)


def limit_meter(rng: Random, meter: Meter) -> None:
    """Give a meter a limit, and an overflow if it is at its limit."""
    meter["overflow"] = rng.choice([0, 1, meter["amount"] // 20, rng.randint(0, meter["amount"])])
    meter["limit"] = meter["amount"]
    if not meter["overflow"]:
        meter["limit"] += rng.choice([0, 1, rng.randint(0, meter["amount"])])


# --- Three Card Prime ---


def three_card_prime(rng: Random) -> Round:
    positions = some_positions(rng, 6)
    paytables: Paytables = {"bad_beat": rng.choice("ABCD")}
    is_large = random_limit(rng, paytables)
    if rng.random() < 0.8:
        paytables["pair_bonus"] = rng.choice("ABCD")
    if rng.random() < 0.8:
        paytables["all_six"] = rng.choice("ABCDEEE")
    has_community = rng.random() < 0.5
    boxes: list[Box] = []
    sizes = {"dealer": 3, **{str(position): 3 for position in positions}}
    for position in positions:
        ante = rng.choice(LARGE_ANTE_CHOICES_CENTS if is_large else ANTE_CHOICES_CENTS)
        wagers = {"ante": ante}
        is_folded = rng.random() < 0.2
        if not is_folded:
            wagers["play"] = ante
        for wager in ("prime", "pair_bonus", "all_six"):
            offered = wager == "prime" or wager in paytables
            if offered and rng.random() < 0.5:
                wagers[wager] = rng.choice(ANTE_CHOICES_CENTS)
        if "pair_bonus" in wagers and (not has_community or rng.random() < 0.1):
            sizes[f"fourth of {position}"] = 1
        boxes.append({"position": position, "folded": is_folded, "wagers": wagers})
    if has_community and any("pair_bonus" in box["wagers"] for box in boxes):
        sizes["community"] = 1
    dealt = deal(rng, sizes)
    move_a_two(rng, dealt)
    for box in boxes:
        keep_cards(rng, box, dealt[str(box["position"])])
        if f"fourth of {box['position']}" in dealt:
            box["fourth_card"] = dealt[f"fourth of {box['position']}"][0]
    seat_patrons(rng, boxes)
    played: Round = {
        "game": "three_card_prime",
        "paytables": paytables,
        "positions": boxes,
        "dealer": dealt["dealer"],
    }
    if "community" in dealt:
        played["pair_bonus_community_card"] = dealt["community"][0]
    random_irregularity(rng, played)
    return played


def move_a_two(rng: Random, dealt: dict[str, list[str]]) -> None:
    """Make fourth cards and community cards that are a 2 more frequent than by chance."""
    for name, hand in dealt.items():
        if len(hand) == 1 and rng.random() < 0.3:
            seen = {card for cards in dealt.values() for card in cards}
            free = [card for card in DECK if card[0] == "2" and card not in seen]
            if free:
                dealt[name] = [rng.choice(free)]


def keep_cards(rng: Random, box: Box, cards: list[str]) -> None:
    """Keep or remove the cards of a box. Folded cards that no wager needs are often gone."""
    survives = set(box["wagers"]) - {"ante"}
    if not box["folded"] or survives or rng.random() < 0.4:
        box["cards"] = cards


# --- Four Card Prime ---


def four_card_prime(rng: Random) -> Round:
    positions = some_positions(rng, 6)
    paytables: Paytables = {"bad_beat": rng.choice("ABCD")}
    is_large = random_limit(rng, paytables)
    if rng.random() < 0.8:
        paytables["prime"] = rng.choice("AB")
    if rng.random() < 0.8:
        paytables["aces_bonus"] = rng.choice("ABCDEFGH")
        reading = rng.choice([None, "five_cards", "best_four"])
        if reading is not None:
            paytables["aces_bonus_reading"] = reading
    if rng.random() < 0.8:
        paytables["all_six"] = rng.choice("ABCDEEE")
    boxes: list[Box] = []
    for position in positions:
        ante = rng.choice(ANTE_CHOICES_CENTS)
        wagers = {"ante": ante}
        is_folded = rng.random() < 0.2
        if not is_folded:
            wagers["raise"] = ante * rng.randint(1, 3)
        for wager in ("prime", "aces_bonus", "all_six"):
            if wager in paytables and rng.random() < 0.5:
                large = is_large and wager != "prime"
                choices = LARGE_ANTE_CHOICES_CENTS if large else ANTE_CHOICES_CENTS
                wagers[wager] = rng.choice(choices)
        boxes.append({"position": position, "folded": is_folded, "wagers": wagers})
    sizes = {"dealer": 6, **{str(position): 5 for position in positions}}
    if any("all_six" in box["wagers"] for box in boxes):
        sizes["all_six"] = 1
    dealt = deal(rng, sizes)
    for box in boxes:
        keep_cards(rng, box, dealt[str(box["position"])])
    seat_patrons(rng, boxes)
    played: Round = {
        "game": "four_card_prime",
        "paytables": paytables,
        "positions": boxes,
        "dealer": dealt["dealer"],
    }
    if "all_six" in dealt:
        played["all_six_card"] = dealt["all_six"][0]
    random_irregularity(rng, played)
    return played
