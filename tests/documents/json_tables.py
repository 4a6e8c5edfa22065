"""Tables of the objects of JSON documents, from their schemas in JSON Schema or OpenAPI."""

import re
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence, Set
from typing import Any, Final

Schema = Mapping[str, Any]
Row = tuple[str, str, str]
"""A field or a parameter: its name, its values and its meaning."""

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
_PAGE: Final = "x-page"
_FIXED: Final = re.compile(r"`[a-z_]+`")
"""The only value that a field can have."""
_COMMON_FROM: Final = 3
"""A field of so many objects is described once for all of them."""


def table(head: Iterable[str], rows: Iterable[Iterable[str]]) -> str:
    heads = list(head)
    cells = (
        [one.replace("|", "\\|") for one in row] for row in (heads, ["---"] * len(heads), *rows)
    )
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def on_other_pages(schemas: Mapping[str, Schema], pages: Mapping[str, str]) -> dict[str, Schema]:
    """Return schemas in which the objects that other pages describe are links to these pages."""
    return {name: {_PAGE: pages[name]} if name in pages else one for name, one in schemas.items()}


def object_tables(
    schemas: Mapping[str, Schema],
    sparse: Collection[str] | None = None,
    *,
    only: Collection[str] | None = None,
    common: bool = False,
) -> str:
    """Return a section for each object with fields, or for some of them `only`.

    In the `sparse` ones, or in all of them, fields can be left out. With `common`, fields that many
    objects have are described once, before all objects.
    """
    objects = {
        name: _rows(one, schemas, sparse=sparse is None or name in sparse)
        for name, one in schemas.items()
        if one.get("properties") and (only is None or name in only)
    }
    shared = _common_rows(objects.values()) if common else set[Row]()
    head = f"### Common fields\n\n{parameter_table(sorted(shared), 'field')}" if shared else ""
    sections = (_section(name, schemas[name], rows, shared) for name, rows in objects.items())
    return "\n\n".join(filter(None, (head, *sections)))


def _common_rows(objects: Iterable[Sequence[Row]]) -> set[Row]:
    """Return, for each name, the most frequent row, if several objects have it."""
    found: dict[str, Row] = {}
    for row, times in Counter(row for rows in objects for row in rows).most_common():
        if times >= _COMMON_FROM:
            found.setdefault(row[0], row)
    return set(found.values())


def _section(name: str, schema: Schema, rows: Sequence[Row], shared: Set[Row]) -> str:
    fixed = {row for row in rows if _FIXED.fullmatch(row[1]) and shared}
    known = ", ".join(row[0] for row in rows if row in shared - fixed)
    own = [row for row in rows if row not in shared | fixed]
    brief = [f"{field} is {value}." for field, value, _ in rows if (field, value, _) in fixed]
    if known:
        brief.append(f"[Common fields](#common-fields): {known}.")
    parts = (
        f"### {words(name)}",
        schema.get("description", ""),
        " ".join(brief),
        parameter_table(own, "field") if own else "",
    )
    return "\n\n".join(filter(None, parts))


def words(name: str) -> str:
    """Return the name of a type as words, such as ``Meter of a link`` for ``MeterOfALink``."""
    plain = name.removesuffix("Text").removesuffix("Row")
    return re.sub(r"(?<=[a-z])([A-Z])", lambda found: f" {found[1].lower()}", plain)


def value_text(schema: Schema, schemas: Mapping[str, Schema]) -> str:
    """Return in words which values a schema allows, with its example."""
    text = _values(schema, schemas)
    shown = ", ".join(f"`{_written(each)}`" for each in schema.get("examples", ()))
    return f"{text}, such as {shown}" if shown else text


def parameter_table(rows: Sequence[Row], head: str) -> str:
    """Return a table of names, values and meanings; without the last column if it is empty."""
    columns = 3 if any(meaning for *_, meaning in rows) else 2
    return table((head, "value", "meaning")[:columns], (row[:columns] for row in rows))


def _rows(schema: Schema, schemas: Mapping[str, Schema], *, sparse: bool) -> list[Row]:
    needed = schema.get("required", ()) if sparse else schema["properties"]
    return [
        (
            f"`{name}`",
            value_text(one, schemas) if name in needed else _left_out(one, schemas),
            " ".join(one.get("description", "").split()),
        )
        for name, one in schema["properties"].items()
    ]


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
    page = target.get(_PAGE, "")
    if page or target.get("properties"):
        return f"[{words(name)}]({page}#{words(name).lower().replace(' ', '-')})"
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
