"""Check of the texts in an event: the ledger stores only printable texts that are not blank."""

from collections.abc import Iterator, Sequence

from bonus.printable import name_problem, unseen_problem
from meters.books.refusals import EventRefusal
from meters.wire.messages import (
    DealtPosition,
    EnteredCards,
    MoneyEvent,
    Result,
    Void,
    WagerCorrection,
    WageredPosition,
    Wagers,
    Withdrawal,
)


def check_texts(event: MoneyEvent) -> None:
    """Refuse an event with an unprintable or blank text.

    A patron's name must also have letters that slips and reports can print. Only in wagers is the
    round id checked, because every other event must have the round id of its wagers.

    Raises:
        EventRefusal: ``unprintable_text``.
    """
    if _are_plain(event):
        return
    for field, text in _texts(event):
        is_name = field.endswith(".patron")
        if problem := name_problem(text) if is_name else unseen_problem(text):
            raise EventRefusal("unprintable_text", f"{field} {problem}", field)


def check_round_id(round_id: str) -> None:
    """Refuse an unprintable or blank round id.

    Raises:
        EventRefusal: ``unprintable_text``.
    """
    if problem := unseen_problem(round_id):
        raise EventRefusal("unprintable_text", f"round {problem}", "round")


def _are_plain(event: MoneyEvent) -> bool:
    """Check fast that the round id and the patron names are printable ASCII that is not blank.

    Nearly all wagers and results pass, and need no other check. A result that has other texts, and
    every other event, does not.
    """
    if not isinstance(event, Wagers) and (not isinstance(event, Result) or event.entered_before):
        return False
    texts = [event.round]
    texts += [position.patron for position in event.positions if position.patron is not None]
    whole = "".join(texts)
    return whole.isascii() and whole.isprintable() and all(map(str.strip, texts))


def _texts(event: MoneyEvent) -> Iterator[tuple[str, str]]:
    if isinstance(event, Void | WagerCorrection):
        yield "reason", event.reason
    if isinstance(event, Void):
        yield from _reasons("entered", event.entered or ())
        return
    if isinstance(event, Withdrawal):
        return
    if isinstance(event, Wagers):
        yield "round", event.round
    positions: Sequence[WageredPosition | DealtPosition] = event.positions
    for index, position in enumerate(positions):
        if position.patron is not None:
            yield f"positions[{index}].patron", position.patron
    if isinstance(event, Result):
        yield from _reasons("entered_before", event.entered_before or ())


def _reasons(field: str, entered: Sequence[EnteredCards]) -> Iterator[tuple[str, str]]:
    for index, cards in enumerate(entered):
        if cards.reason is not None:
            yield f"{field}[{index}].reason", cards.reason
