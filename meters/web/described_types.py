"""Descriptions of types and fields for the API's document, taken from their docstrings.

Under ``Attributes:``, a docstring describes fields. A field with one meaning in all types is
described here, once.
"""

import inspect
import re
from collections.abc import Mapping
from dataclasses import is_dataclass
from typing import TYPE_CHECKING, Final, NamedTuple

import msgspec
from litestar.openapi.spec import OpenAPIType, Schema
from litestar.plugins import OpenAPISchemaPlugin
from litestar.typing import FieldDefinition

if TYPE_CHECKING:
    from litestar._openapi.schema_generation import SchemaCreator

_ATTRIBUTE: Final = re.compile(
    r"^    (?P<name>[a-z_0-9]+): (?P<text>.*(?:\n {5,}.*)*)", re.MULTILINE
)
_HEAD: Final = "Attributes:\n"


class FieldText(NamedTuple):
    text: str
    example: object = None


FIELDS: Final[Mapping[str, FieldText]] = {
    "link": FieldText("The id of the link in the floor file.", "tcp-main"),
    "link_name": FieldText("The name of the link for people.", "Three Card Poker"),
    "meter": FieldText("The id of the meter on its link.", "progressive"),
    "meter_name": FieldText("The name of the meter for people.", "Three-Card Progressive"),
    "name": FieldText("The name for people."),
    "table": FieldText("The id of the table.", "TCP-03"),
    "asset": FieldText("The facility's number for the table.", "T-103"),
    "game": FieldText("The game, as in the floor file.", "three_card_poker"),
    "round": FieldText("The name of the round at its table.", "497"),
    "position": FieldText("The position; 1 is farthest to the dealer's left.", 3),
    "patron": FieldText("The patron, as the table names them.", "p3"),
    "claim": FieldText("The id of the claim, the record of a win.", "tcp-main.TCP-03-497-1"),
    "item": FieldText(
        "The wager, the bonus that is paid with it, or the jackpot of a meter.", "progressive"
    ),
    "item_name": FieldText("The name of `item` for people.", "Progressive"),
    "hand": FieldText("The hand, as in the rules.", "mini_royal_spades"),
    "hand_name": FieldText("The hand in words.", "Mini-royal of spades"),
    "cards": FieldText(
        "The cards: rank `23456789TJQKA`, suit `cdhs`; `Jk` for the joker; or a result that the"
        " dealer entered.",
        ["As", "Ks", "Qs"],
    ),
    "wagered": FieldText("The amount that was wagered, in cents.", 100),
    "amount": FieldText("The amount, in cents.", 151_000),
    "meter_after": FieldText("The meter after the win, in cents.", 100_000),
    "percent": FieldText("The percentage of the meter; a text if it is no whole number.", 100),
    "version": FieldText("A number that rises with each change of the meter.", 7),
    "cycle": FieldText("A number that rises each time the whole meter is won.", 2),
    "reason": FieldText("The reason, in words.", "Misread: two pair"),
    "at": FieldText("The time, in UTC.", "2026-11-23T13:05:15.106Z"),
    "decided_by": FieldText("The user who decided.", "Flo"),
    "decided_at": FieldText("The time of the decision, in UTC.", "2026-11-23T13:07:41.290Z"),
    "begins_s": FieldText("The beginning, in seconds since 1970.", 1_795_438_800),
    "ends_s": FieldText("The end, in seconds since 1970.", 1_795_442_400),
    "by": FieldText("Who did it.", "Flo"),
    "day": FieldText("A gaming day.", "2026-11-20"),
    "rule": FieldText("The subsection of the law that applies.", "649a.12(e)(1)"),
    "entry": FieldText("The number of the ledger entry.", 497),
    "slip": FieldText("The number of the payout slip.", "PS-000731"),
    "role": FieldText("The role.", "floorperson"),
    "pin": FieldText("The PIN.", "730482"),
    "csrf": FieldText("The token to send as `X-CSRF-Token`."),
    "colleague": FieldText("Who acts instead of the signed-in user, for this act alone."),
    "unread": FieldText(
        "The number of days that the service has not read yet. If it is not 0, ask again later.", 0
    ),
    "missing": FieldText("The days that this machine cannot read."),
    "next": FieldText("The place at which the next page begins; null on the last page."),
    "seed": FieldText("The first balance of the meter, in cents.", 100_000),
    "reseed": FieldText("What the meter gets after the whole meter was won, in cents.", 100_000),
    "reserve": FieldText("The reserve of the meter, in cents.", 30_000),
    "overflow": FieldText("What the payout limit keeps out of the meter, in cents.", 0),
    "limit": FieldText("The payout limit of the meter, in cents; null for none."),
    "primary_bps": FieldText("What a wager adds to the meter, in basis points.", 1_400),
    "reserve_bps": FieldText("What a wager adds to the reserve, in basis points.", 100),
    "primary_above_bps": FieldText(
        "What a wager adds to the meter from `threshold`, in basis points.", 0
    ),
    "reserve_above_bps": FieldText(
        "What a wager adds to the reserve from `threshold`, in basis points.", 0
    ),
}
"""A type's docstring can describe one of these fields differently."""


def about(docstring: str | None) -> str:
    """Return the part of a type's docstring that is about the whole type."""
    return _plain(inspect.cleandoc(docstring or "").partition(_HEAD)[0].strip())


def field_texts(docstring: str | None) -> dict[str, str]:
    """Return the description of each field in a type's docstring."""
    found = _ATTRIBUTE.finditer(inspect.cleandoc(docstring or "").partition(_HEAD)[2])
    texts = {one["name"]: _plain(" ".join(one["text"].split())) for one in found}
    return {name: f"{text[:1].upper()}{text[1:]}" for name, text in texts.items()}


def _plain(text: str) -> str:
    return text.replace("``", "`")


class DescribedTypes(OpenAPISchemaPlugin):
    """Adds the descriptions of types and fields to the OpenAPI document."""

    def is_plugin_supported_field(self, field_definition: FieldDefinition) -> bool:
        kind = field_definition.type_
        return isinstance(kind, type) and (is_dataclass(kind) or issubclass(kind, msgspec.Struct))

    def to_openapi_schema(
        self, field_definition: FieldDefinition, schema_creator: "SchemaCreator"
    ) -> Schema:
        plain = next(
            each
            for each in schema_creator.plugins
            if each is not self and schema_creator.plugin_supports_field(each, field_definition)
        )
        schema = plain.to_openapi_schema(field_definition, schema_creator)
        kind: type = field_definition.type_
        if not (kind.__doc__ or "").startswith(f"{kind.__name__}("):  # made by `dataclass`
            schema.description = about(kind.__dict__.get("__doc__")) or None
        told: dict[str, str] = {}
        for each in reversed(kind.__mro__):
            told |= field_texts(each.__dict__.get("__doc__"))
        for name, field in (schema.properties or {}).items():
            common = FIELDS.get(name, FieldText(""))
            field.description = told.get(name) or common.text or None
            fits = common.example is not None and name not in told
            if fits and isinstance(field, Schema) and _fits(field, common.example):
                field.examples = [common.example]
        return schema


def _fits(schema: Schema, example: object) -> bool:
    each = [schema, *(one for one in schema.one_of or () if isinstance(one, Schema))]
    types = {one.type for one in each if not one.enum and one.const is None and not one.format}
    return _TYPES[type(example)] in types


_TYPES: Final = {str: OpenAPIType.STRING, int: OpenAPIType.INTEGER, list: OpenAPIType.ARRAY}
