"""Tables of the objects of JSON documents, from their schemas in JSON Schema or OpenAPI."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any, Final

Schema = Mapping[str, Any]

_NAMES: Final = {
    "boolean": "true or false",
    "integer": "whole number",
    "null": "`null`",
    "number": "number",
    "object": "object",
    "string": "text",
}
_BOUND: Final = 10**9
"""A larger number only keeps what is stored in order."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(head)
    cells = (
        [one.replace("|", "\\|") for one in row] for row in (heads, ["---"] * len(heads), *rows)
    )
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def object_tables(schemas: Mapping[str, Schema], sparse: Collection[str] | None = None) -> str:
    """Return a section for each object with fields.

    In the `sparse` ones, or in all of them, fields can be left out.
    """
    return "\n\n".join(
        f"### {words(name)}\n\n{_object(one, schemas, sparse=sparse is None or name in sparse)}"
        for name, one in schemas.items()
        if one.get("properties")
    )


def words(name: str) -> str:
    """Return the name of a type as words, such as ``Meter of a link`` for ``MeterOfALink``."""
    plain = name.removesuffix("Text").removesuffix("Row")
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f" {found[1].lower()}", plain)


def value_text(schema: Schema, schemas: Mapping[str, Schema]) -> str:
    """Return in words which values a schema allows, with its example."""
    text = _values(schema, schemas)
    shown = ", ".join(f"`{_written(each)}`" for each in schema.get("examples", ()))
    return f"{text}, such as {shown}" if shown else text


def parameter_table(rows: Sequence[tuple[str, str, str]], head: str) -> str:
    """Return a table of names, values and meanings; without the last column if it is empty."""
    columns = 3 if any(meaning for *_, meaning in rows) else 2
    return table((head, "value", "meaning")[:columns], (row[:columns] for row in rows))


def _object(schema: Schema, schemas: Mapping[str, Schema], *, sparse: bool) -> str:
    needed = schema.get("required", ()) if sparse else schema["properties"]
    rows = [
        (
            f"`{name}`",
            value_text(one, schemas) if name in needed else _left_out(one, schemas),
            " ".join(one.get("description", "").split()),
        )
        for name, one in schema["properties"].items()
    ]
    return f"{schema.get('description', '')}\n\n{parameter_table(rows, 'field')}".strip()


def _left_out(schema: Schema, schemas: Mapping[str, Schema]) -> str:
    default = schema.get("default")
    without = "can be left out" if not default and default != 0 else f"else `{_written(default)}`"
    return f"{value_text(schema, schemas).replace(' or `null`', '')}; {without}"


def _values(schema: Schema, schemas: Mapping[str, Schema]) -> str:  # noqa: PLR0911
    if ref := schema.get("$ref"):
        return _named(ref.rpartition("/")[2], schemas)
    if given := schema.get("enum", [schema["const"]] if "const" in schema else None):
        return ", ".join(f"`{_written(each)}`" for each in given)
    if several := schema.get("oneOf") or schema.get("anyOf"):
        return " or ".join(_values(each, schemas) for each in several)
    if parts := schema.get("prefixItems"):
        return f"list: {', '.join(_values(each, schemas) for each in parts)}"
    if inner := schema.get("items"):
        return f"list of: {_values(inner, schemas)}"
    if fields := schema.get("properties"):
        return f"object of {' and '.join(f'`{name}`' for name in fields)}"
    if inner := schema.get("additionalProperties"):
        return f"object of: {_values(inner, schemas)}"
    return _plain(schema)


def _named(name: str, schemas: Mapping[str, Schema]) -> str:
    target = schemas[name]
    if target.get("properties"):
        return f"[{words(name)}](#{words(name).lower().replace(' ', '-')})"
    return "`{}`" if target.get("type") == "object" else _values(target, schemas)


def _plain(schema: Schema) -> str:
    match schema:
        case {"type": "integer", "minimum": least, "maximum": most} if most < _BOUND:
            return f"{least:,.0f} to {most:,.0f}"
        case {"type": "string", "maxLength": most}:
            return f"text, at most {most} characters"
        case {"type": "string", "format": "date"}:
            return "day"
        case {"type": kind}:
            return _NAMES[kind]
    return "anything"


def _written(value: object) -> str:
    match value:
        case None | bool():
            return str(value).lower().replace("none", "null")
        case list():
            return f"[{', '.join(map(_quoted, value))}]"
        case _:
            return str(value)


def _quoted(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else _written(value)
