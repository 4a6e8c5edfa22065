"""JSON Schemas of commands, streams, messages and device events, from the types of the program."""

from collections.abc import Callable, Mapping, Sequence
from fractions import Fraction
from typing import Any, Final, get_args, get_origin, get_type_hints

import msgspec

from bonus.law.chapter_file import Chapter
from bonus.odds.odds_entries import DECIMALS, OddsEntry
from bonus.rounds import SettlementText
from bonus.settling.round_text import RoundText
from bonus.settling.settle_round import RefusedRound
from controllers.table.device_events import (
    BettingLocked,
    ChipsCounted,
    CommunityRead,
    DealerRead,
    DeviceAnswer,
    HandFolded,
    HandRead,
    NextRound,
    NoWinDeclared,
    Repeated,
    Retracted,
    RoundDone,
    SamePlayer,
    SettlePressed,
    VoidPressed,
    WagerCorrected,
    WagerPlaced,
    WagerWithdrawn,
)
from meters.archive.day_file import EntryLine, HeadLine
from meters.cli.audit import AuditResult
from meters.cli.report import ReportRows
from meters.floor.floor_file import FloorSettings
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
from meters.reports.submission_contents import Submission
from meters.users.users import UserRow
from meters.web.described_types import FIELDS, about, field_texts
from meters.web.display_state import FixedJackpotsRow, JackpotRow, LinkRow, MeterRow, WinsRow
from meters.wire.messages import (
    ControllerBeat,
    Hello,
    HelloReply,
    Jackpot,
    LedgerSeal,
    MeterValue,
    Reply,
    Result,
    TableStatus,
    Void,
    WagerCorrection,
    Wagers,
    Withdrawal,
)
from tests.documents.json_tables import object_tables, on_other_pages, table

_AT: Final = "https://json-schema.org/draft/2020-12/schema"


def _readable(kind: type[msgspec.Struct], name: str, **types: object) -> type[msgspec.Struct]:
    """Return a type with the types of fields that the program decodes later."""
    fields = [
        (each.name, types.get(each.name, each.type))
        if each.required
        else (each.name, types.get(each.name, each.type), _default(each))
        for each in msgspec.structs.fields(kind)
    ]
    described = {"__doc__": kind.__doc__}
    return msgspec.defstruct(
        name, fields, namespace=described, kw_only=True, forbid_unknown_fields=True
    )


def _default(field: msgspec.structs.FieldInfo) -> object:
    if isinstance(field.default, msgspec.Raw):
        return msgspec.field(default_factory=dict)
    if isinstance(field.default, Fraction):
        return None
    if field.default is msgspec.NODEFAULT:
        return msgspec.field(default_factory=field.default_factory)
    return field.default


def _round() -> type[msgspec.Struct]:
    hints = get_type_hints(get_origin(RoundText))
    (generic,) = get_args(hints["positions"])
    position: Any = _readable(get_origin(generic) or generic, "Position", wagers=dict[str, int])
    choices = dict[str, str | int | dict[str, int]]
    whole = get_origin(RoundText) or RoundText
    return _readable(whole, "Round", positions=list[position], paytables=choices)


DEVICE_EVENTS: Final = (
    WagerPlaced, WagerWithdrawn, Repeated, SamePlayer, BettingLocked, ChipsCounted, WagerCorrected,
    HandRead, HandFolded, NoWinDeclared, DealerRead, CommunityRead, Retracted, SettlePressed,
    VoidPressed, NextRound, RoundDone,
)  # fmt: skip
"""The events of a table's hardware, in the order of a round."""

SCHEMAS: Final[Mapping[str, Any]] = {
    "round": _round(),
    "settlement": (SettlementText, RefusedRound),
    "odds": Sequence[_readable(OddsEntry, "OddsEntry")],  # type: ignore[misc]
    "audit": AuditResult,
    "report": ReportRows,
    "users": Sequence[UserRow],
    "stream": (MeterRow, FixedJackpotsRow, LinkRow, JackpotRow, WinsRow),
    "submission": Submission,
    "mqtt": (
        MeterValue, ControllerBeat, Jackpot, Wagers, Result, Void, WagerCorrection, Withdrawal,
        Hello, Reply, HelloReply, TableStatus, LedgerSeal,
    ),
    "device-events": (*DEVICE_EVENTS, DeviceAnswer),
    "archive": (HeadLine, EntryLine),
    "ledger": (
        TermsText, DecisionRecord, AskDecision, Change, Withdrawn, SwitchRecord, HalfApproval,
        Approval, CloseReading, Archived, Expired, RestoreEntry, Outage, PromotionAdded,
    ),
    "game-file": Chapter,
    "floor-file": FloorSettings,
}  # fmt: skip
_SPARSE: Final = dict.fromkeys(("round", "settlement", "odds", "mqtt", "device-events", "ledger"))
"""Documents that leave out what has no value."""

_OF_MESSAGES: Final = {name: one.text for name, one in FIELDS.items()} | {
    "seq": "The number of the event at its table: 1, 2, 3 and so on.",
    "at": "The time, RFC 3339. The service writes UTC; a table can have any offset.",
    "type": "The kind of the message.",
    "event": "The kind of the event.",
    "wager": "The name of the wager.",
}
_COMMON: Final[Mapping[str, Mapping[str, str]]] = {
    "stream": _OF_MESSAGES, "mqtt": _OF_MESSAGES, "device-events": _OF_MESSAGES,
    "ledger": _OF_MESSAGES,
    "archive": _OF_MESSAGES | {"number": "The number of the entry: 1, 2, 3 and so on."},
}  # fmt: skip
"""What fields with one meaning in a whole document say."""

_FRACTION: Final = {"type": "string", "pattern": "^-?[0-9]+/[0-9]+$", "examples": ["1/22100"]}
_SHARE: Final = {
    "type": "object",
    "properties": {"exact": _FRACTION, "percent": {"type": "string", "examples": ["27.0860"]}},
    "required": ["exact", "percent"],
}


def json_schema(name: str) -> dict[str, Any]:
    """Return the schema of a document, with what the program says of its objects and fields."""
    kinds = SCHEMAS[name]
    of_kinds, objects = msgspec.json.schema_components(
        kinds if isinstance(kinds, tuple) else (kinds,),
        schema_hook=_fractions(name),
        ref_template="#/$defs/{name}",
    )
    for one in objects.values():
        docstring = one.pop("description", None)
        if text := about(docstring):
            one["description"] = text
        told = field_texts(docstring)
        for field, described in one.get("properties", {}).items():
            _spell_patterns(described)
            common = _COMMON.get(name, {}).get(field, "")
            if meaning := told.get(field, common):
                described["description"] = meaning
        if name == "odds":
            _add_decimals(one)
    whole = of_kinds[0] if len(of_kinds) == 1 else {"anyOf": list(of_kinds)}
    return {"$schema": _AT, **whole, "$defs": objects}


def _spell_patterns(schema: dict[str, Any]) -> None:
    r"""Spell the anchors of patterns as JSON Schema does, which has no `\A` and `\Z`."""
    for key, value in schema.items():
        if isinstance(value, dict):
            _spell_patterns(value)
        elif isinstance(value, list):
            for each in (each for each in value if isinstance(each, dict)):
                _spell_patterns(each)
        elif key == "pattern":
            schema[key] = value.replace(r"\A", "^").replace(r"\Z", "$")


def json_reference(name: str) -> str:
    """Return a link to a schema, and tables of its objects."""
    link = f"Schema: [schemas/{name}.json](schemas/{name}.json)."
    objects = json_schema(name)["$defs"]
    if name == "device-events":
        return f"{link}\n\n{_device_events(objects)}"
    if name == "mqtt":
        objects = on_other_pages(objects, {"Line": "settlement.md"})
    if name == "ledger":
        objects = on_other_pages(objects, {"EnteredCards": "mqtt.md"})
    return f"{link}\n\n{object_tables(objects, _SPARSE.get(name, ()), common=name == 'mqtt')}"


def _device_events(objects: Mapping[str, Any]) -> str:
    """Return a table of the events of a table's hardware, and the fields of an answer."""
    rows = [_device_event(objects[one.__name__]) for one in DEVICE_EVENTS]
    of_mqtt = dict.fromkeys(("ClaimOpened", "DrawMade", "ErrorDetail"), "mqtt.md")
    others = on_other_pages(objects, of_mqtt | {"Line": "settlement.md"})
    events = table(("event", "fields", "what it does"), rows)
    return f"{events}\n\n{object_tables(others, only=[DeviceAnswer.__name__])}"


def _device_event(one: Mapping[str, Any]) -> tuple[str, str, str]:
    needed, optional = list[str](), list[str]()
    (kind,) = one["properties"]["event"]["enum"]
    for field, schema in one["properties"].items():
        if field != "event":
            values = ", ".join(f"`{each}`" for each in schema.get("enum", ()))
            text = f"`{field}` ({values})" if values else f"`{field}`"
            (needed if field in one["required"] else optional).append(text)
    fields = ", ".join(needed)
    if optional:
        fields = "; ".join(filter(None, (fields, f"optional: {', '.join(optional)}")))
    return f"`{kind}`", fields, " ".join(one["description"].split())


def _fractions(name: str) -> Callable[[type], dict[str, Any]]:
    def schema_of(kind: type) -> dict[str, Any]:
        assert kind is Fraction, kind
        return dict(_SHARE if name == "submission" else _FRACTION)

    return schema_of


def _add_decimals(one: dict[str, Any]) -> None:
    """Add to an object of `pitlink odds` the decimals that follow its fractions."""
    fields = {}
    for field, schema in one["properties"].items():
        fields[field] = schema
        if field in DECIMALS:
            told = f"`{field}`, rounded to six places."
            fields[f"{field}_decimal"] = {"type": "string", "description": told}
    one["properties"] = fields
