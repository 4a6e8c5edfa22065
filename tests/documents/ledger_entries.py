"""Tables of a ledger's accounts and of the kinds of its entries."""

import inspect
import re
from collections.abc import Iterator
from typing import Final

from meters.ledger import accounts
from meters.ledger.entry_messages import (
    Archived,
    Change,
    CloseReading,
    DecisionRecord,
    Expired,
    Outage,
    PromotionAdded,
    RestoreEntry,
    SwitchRecord,
    Withdrawn,
)
from meters.ledger.floor_approvals import Approval, HalfApproval
from meters.ledger.money_terms import TermsText
from meters.ledger.table_corrections import AskDecision
from meters.wire.messages import HiddenValueDrawn, Result, Void, WagerCorrection, Wagers
from tests.documents.json_tables import table, words

_ACCOUNT: Final = re.compile(
    r"^``(?P<name>[a-z]+)(?::{(?P<of>[a-z]+)})?`` +(?P<text>.+)$", re.MULTILINE
)
_OF_MQTT: Final = (Wagers, WagerCorrection, Result, Void, HiddenValueDrawn)
_NOTHING: Final = "nothing"

KINDS: Final[tuple[tuple[str, str, str, type], ...]] = (
    ("seed", "A meter began.", "from `house` to the meter", TermsText),
    (
        "wagers",
        "Wagers were accepted at lock-out.",
        (
            "from the table to meter, reserve and overflow: cents times rate in basis points, and"
            " with `overflow_to` from the overflow to another meter; for a must-hit-by win, as a"
            " `result`"
        ),
        Wagers,
    ),
    (
        "hidden_value",
        "A hidden value of a must-hit-by meter was drawn, and the one before was opened.",
        _NOTHING,
        HiddenValueDrawn,
    ),
    (
        "correct_wager",
        "A wager was added or taken back after lock-out.",
        "as `wagers`, or as `void`",
        WagerCorrection,
    ),
    (
        "result",
        "A round was settled.",
        (
            "for each win, from the meter or `house` to the claim, its Envy account or `paid`; then"
            " from reserve, `house` and overflow to the meter, as `wagers` do above its limit"
        ),
        Result,
    ),
    (
        "void",
        "A round was voided.",
        (
            "from meter, overflow and reserve back to the table, with `overflow_to` also from the"
            " other meter; from `house`, what was won meanwhile"
        ),
        Void,
    ),
    (
        "validate",
        "A win was validated.",
        "from the claim to `paid`; for a hand pay nothing",
        DecisionRecord,
    ),
    (
        "pay",
        "The payment of a hand pay was entered.",
        "from the claim to `paid`, and so with Envy Bonuses that were paid with it",
        DecisionRecord,
    ),
    (
        "reject",
        "A win was rejected.",
        (
            "from the claim: a percentage to the meter, a must-hit-by win to the reserve, a win at"
            " odds to `house`; Envy Bonuses that are not due to `house`"
        ),
        DecisionRecord,
    ),
    (
        "reopen",
        "A rejected win was reopened.",
        "from meter, overflow or reserve, and `house` to the claim; Envy Bonuses from `house`",
        DecisionRecord,
    ),
    ("pay_envy", "Envy Bonuses were paid.", "from the Envy account to `paid`", DecisionRecord),
    (
        "reject_envy",
        "Envy Bonuses were found not to be due.",
        "from the Envy account to `house`",
        DecisionRecord,
    ),
    ("request_reject", "The first person asked to reject a win.", _NOTHING, DecisionRecord),
    ("request_reopen", "The first person asked to reopen a win.", _NOTHING, DecisionRecord),
    ("withdraw_request", "Such a request was withdrawn.", _NOTHING, DecisionRecord),
    ("correct_slip", "The number of a payout slip was corrected.", _NOTHING, DecisionRecord),
    (
        "confirm_correction",
        "A floorperson confirmed a correction of the table.",
        _NOTHING,
        AskDecision,
    ),
    (
        "refuse_correction",
        "A floorperson refused a correction of the table.",
        _NOTHING,
        AskDecision,
    ),
    ("propose", "A change of a meter was proposed.", _NOTHING, Change),
    ("withdraw", "A proposal was withdrawn.", _NOTHING, Withdrawn),
    (
        "parameter",
        "A second person confirmed a parameter.",
        "from the overflow to the meter, if a higher payout limit has room",
        Change,
    ),
    (
        "adjust",
        "A second person confirmed an adjustment.",
        "between `house` and the meter; then from the overflow to the meter",
        Change,
    ),
    (
        "promotion",
        "A promotion added money, or its count of the wagers began or ended.",
        "from `house` to the meter, and to its overflow what is above its payout limit",
        PromotionAdded,
    ),
    ("close", "The link was closed.", _NOTHING, SwitchRecord),
    ("open", "The link was opened.", _NOTHING, SwitchRecord),
    ("approve_first", "The first of two people approved a floor file.", _NOTHING, HalfApproval),
    ("approve", "A floor file was approved.", _NOTHING, Approval),
    ("reading", "A gaming day was closed, and the meters read.", _NOTHING, CloseReading),
    ("archive", "A gaming day was archived.", _NOTHING, Archived),
    ("expire", "Old archive files were deleted.", _NOTHING, Expired),
    ("restore", "A lost Redis was restored.", _NOTHING, RestoreEntry),
    ("inoperable", "The link did not operate for a time.", _NOTHING, Outage),
)
"""Each kind of entry, what happened, what it moves, and the type of its event."""


def ledger_kinds() -> str:
    rows = ((f"`{kind}`", what, moves, _link(event)) for kind, what, moves, event in KINDS)
    return table(("kind", "what happened", "what it moves", "event"), rows)


def ledger_accounts() -> str:
    """Return a table of the accounts, from the docstring of their module."""
    return table(("account", "balance"), _accounts())


def _accounts() -> Iterator[tuple[str, str]]:
    for found in _ACCOUNT.finditer(inspect.getdoc(accounts) or ""):
        of = f":{found['of'].upper()}" if found["of"] else ""
        yield f"`{found['name']}{of}`", found["text"]


def _link(event: type) -> str:
    name = words(event.__name__)
    page = "mqtt.md" if event in _OF_MQTT else ""
    return f"[{name}]({page}#{name.lower().replace(' ', '-')})"
