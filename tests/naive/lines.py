"""The lines of a settlement, each named as the dealer would say it."""

from tests.naive.shapes import Line


def paid_to_one(position: int, item: str, wagered: int, odds: int) -> Line:
    """Return a winning wager at "odds to 1": the winnings are paid, and the wager goes back."""
    return paid(position, item, wagered, odds * wagered, returned=wagered)


def paid(
    position: int,
    item: str,
    wagered: int,
    cents: int,
    *,
    returned: int = 0,
    paid_from: str = "table_inventory",
) -> Line:
    """Return a payment in cents, with the part of the wager that goes back."""
    return {
        "position": position,
        "item": item,
        "outcome": "paid",
        "wagered": wagered,
        "paid": cents,
        "returned": returned,
        "paid_from": paid_from,
    }


def returned(position: int, item: str, wagered: int) -> Line:
    return {
        "position": position,
        "item": item,
        "outcome": "returned",
        "wagered": wagered,
        "paid": 0,
        "returned": wagered,
    }


def collected(position: int, item: str, wagered: int) -> Line:
    return {
        "position": position,
        "item": item,
        "outcome": "collected",
        "wagered": wagered,
        "paid": 0,
        "returned": 0,
    }
