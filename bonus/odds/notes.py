from bonus.law.paytables import Paytable
from bonus.odds.offers import Offer


def mini_royal_cell(offer: Offer) -> str:
    return f"{offer.mini_royal:,} to 1" if offer.mini_royal else ""


def main_note(offer: Offer, paytable: Paytable | None) -> str:
    notes = []
    versions = offer.chapter.version
    if paytable and versions:
        rule = versions[0].rule.rpartition("(")[0]
        which = "with" if paytable.version else "without"
        notes.append(f"This paytable is for tables {which} a version of {rule}.")
    return " ".join([*notes, *_limit(offer, {offer.chapter.main_game.odds_rule})])


def optional_note(offer: Offer, rules: set[str], *, sums: bool) -> str:
    """Return the notes about the house edge of an optional wager that feeds no meter.

    ``rules`` are the subsections of its paytables. ``sums`` is true if they pay fixed sums.
    """
    notes = []
    if offer.tables and offer.tables.forfeited:
        notes.append(
            f"A player who folds forfeits this wager ({offer.tables.forfeited}); the edge is for"
            " the paytable alone."
        )
    if sums:
        dollars = offer.wagers_cents[0] // 100
        notes.append(
            f"With fixed sums, the edge depends on the wager: it is for a ${dollars} wager."
        )
    return " ".join([*notes, *_limit(offer, rules)])


def _limit(offer: Offer, rules: set[str]) -> list[str]:
    limit = offer.chapter.limit
    if limit and rules & set(limit.covers):
        return [f"Without the aggregate payout limit of {limit.rule}."]
    return []
