"""The reference of HTTP routes, from the service's OpenAPI document."""

import re
import textwrap
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, Final

import msgspec

from meters.floor.roles import RIGHTS, Right, Role
from meters.web.described_types import field_texts
from tests.documents.json_schemas import json_schema
from tests.documents.json_tables import (
    Row,
    object_tables,
    on_other_pages,
    parameter_table,
    table,
    value_text,
)
from tests.web.stand import Stand

_WIDTH: Final = 110
_INHERITED_FROM: Final = 5
"""An object with as many fields is worth a link."""
_DUTY: Final = re.compile(r"\b(D[1-9][0-9]?)\b(?![`\]])")
_REFERENCE: Final = re.compile(r"#/components/schemas/(\w+)")
_RIGHT: Final = re.compile(r"^ +[A-Z_]+:", re.MULTILINE)
_KINDS: Final = {
    "text/event-stream": "server-sent events",
    "text/csv": "a spreadsheet",
    "application/pdf": "a PDF",
    "text/plain": "text",
}
_PAGES: Final = {"stream": "http.md", "settlement": "settlement.md", "users": "command-json.md"}
"""Documents whose objects other pages describe."""
_USUAL: Final[Mapping[str, frozenset[str]]] = {
    "get": frozenset({"400", "401", "403", "404", "503"}),
    "post": frozenset({"400", "401", "403", "404", "409", "413", "415", "503"}),
}
"""The errors of routes for signed-in users."""
_ROLES: Final = {
    frozenset(role.value for role in Role if right in RIGHTS[role]): right for right in Right
}


def api_document() -> dict[str, Any]:
    """Return the OpenAPI document of a service."""
    document = Stand().app().openapi_schema.to_schema()
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    return found


def http_reference(document: Mapping[str, Any]) -> str:
    """Return a section for each route, the errors, and a section for each object of a body."""
    pages = {
        name: page
        for each, page in _PAGES.items()
        for name, one in json_schema(each)["$defs"].items()
        if one.get("properties")
    }
    told = dict(sorted(document["components"]["schemas"].items()))
    schemas = _without_inherited(told, on_other_pages(told, pages))
    routes = list(_routes(document))
    found = Counter(row for _, _, one in routes for row in _parameters(one, "query", schemas))
    common = {row for row, times in found.items() if times > 1}
    in_paths = {
        (f"`{{{name.strip('`')}}}`", values, meaning)
        for _, _, one in routes
        for name, values, meaning in _parameters(one, "path", schemas)
    }
    groups: dict[str, list[str]] = {}
    for method, path, one in routes:
        groups.setdefault(one["tags"][0], []).append(_route(method, path, one, schemas, common))
    text = "\n\n".join(
        [
            "## Parameters", parameter_table(sorted(in_paths | common), "parameter"),
            "## Rights", _rights(),
            "## Errors", _errors(document),
            *(part for group, routes in groups.items() for part in (f"## {group}", *routes)),
            "## Bodies and answers",
            object_tables(schemas, _bodies(document), common=True),
        ]
    )  # fmt: skip
    return _DUTY.sub(r"[\1](../compliance/duties.md)", text)


def _without_inherited(
    schemas: Mapping[str, Mapping[str, Any]], linked: Mapping[str, Mapping[str, Any]]
) -> dict[str, Mapping[str, Any]]:
    """Return schemas in which an object with all fields of one on another page links to that one.

    In `linked`, objects on other pages have no fields.
    """
    found = dict(linked)
    for name, base in schemas.items():
        fields = base.get("properties", {}).items()
        if linked[name].get("properties") or len(fields) < _INHERITED_FROM:
            continue
        for other, one in schemas.items():
            own = one.get("properties", {}).items()
            if own > fields:
                link = value_text({"$ref": name}, linked)
                told = f"{one['description']} It has all fields of {link}, and:"
                rest = {field: each for field, each in own if (field, each) not in fields}
                found[other] = {**one, "description": told, "properties": rest}
    return found


def _routes(document: Mapping[str, Any]) -> Iterator[tuple[str, str, Mapping[str, Any]]]:
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            if method != "head":
                yield method, path, one


def _rights() -> str:
    """Return a table of the rights, with the roles that have each."""
    told = field_texts(_RIGHT.sub(lambda found: found[0].lower(), Right.__doc__ or ""))
    rows = (
        (f"`{right}`", ", ".join(role for role in Role if right in RIGHTS[role]),
         told[right.name.lower()])
        for right in Right
    )  # fmt: skip
    return table(("right", "roles", "what it allows"), rows)


def _route(
    method: str,
    path: str,
    one: Mapping[str, Any],
    schemas: Mapping[str, Any],
    common: Collection[Row],
) -> str:
    facts = [f"{_who(one)}."]
    if body := one.get("requestBody"):
        facts.append(f"Body: {value_text(_schema(body), schemas)}.")
    refused = {status for status, answer in one["responses"].items() if _is_error(answer)}
    for status, answer in one["responses"].items():
        if status not in refused:
            said = "" if status == "200" else f"{status}, "
            facts.append(f"Answer: {said}{_answer(answer, schemas)}.")
    if more := sorted(refused - _USUAL[method] if one.get("security") else refused):
        facts.append(f"Errors: {'also ' * bool(one.get('security'))}{', '.join(more)}.")
    rows = _parameters(one, "query", schemas)
    if known := [name for name, *_ in (row for row in rows if row in common)]:
        facts.append(f"[Parameters](#parameters): {', '.join(known)}.")
    parts = [f"### {method.upper()} {path}", one.get("description", ""), " ".join(facts)]
    if own := [row for row in rows if row not in common]:
        parts.append(parameter_table(own, "parameter"))
    return "\n\n".join(parts)


def _parameters(one: Mapping[str, Any], where: str, schemas: Mapping[str, Any]) -> list[Row]:
    return [
        (
            f"`{each['name']}`",
            value_text(each["schema"], schemas).replace(" or `null`", "").replace(", `null`", ""),
            each.get("description", ""),
        )
        for each in one.get("parameters", ())
        if each["in"] == where
    ]


def _who(one: Mapping[str, Any]) -> str:
    if not (needed := one.get("security")):
        return "For everybody"
    roles = frozenset(needed[0]["session"])
    return f"Right: `{_ROLES[roles]}`" if roles else "For every signed-in user"


def _schema(content: Mapping[str, Any]) -> Mapping[str, Any]:
    (kind,) = content["content"].values()
    schema: Mapping[str, Any] = kind["schema"]
    return schema


def _is_error(answer: Mapping[str, Any]) -> bool:
    content = answer.get("content", {}).get("application/json", {})
    return bool(content.get("schema", {}).get("$ref", "").endswith("/ErrorBody"))


def _answer(answer: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    if not (content := answer.get("content")):
        return "without a body"
    (kind,) = content
    return _KINDS.get(kind) or value_text(_schema(answer), schemas)


def _bodies(document: Mapping[str, Any]) -> set[str]:
    """Return the names of the objects that requests have: the body, and what it consists of."""
    found, unread = set[str](), [
        one["requestBody"] for each in document["paths"].values()
        for one in each.values() if "requestBody" in one
    ]  # fmt: skip
    while unread:
        names = set(_REFERENCE.findall(str(unread.pop()))) - found
        found |= names
        unread += [document["components"]["schemas"][name] for name in names]
    return found


def _errors(document: Mapping[str, Any]) -> str:
    told = {
        status: answer["description"]
        for methods in document["paths"].values()
        for one in methods.values()
        for status, answer in one["responses"].items()
        if _is_error(answer)
    }
    of_get, of_post = sorted(_USUAL["get"]), sorted(_USUAL["post"] - _USUAL["get"])
    usual = (
        f"A route for signed-in users can refuse with {_listed(of_get)}, a `POST` also with "
        f"{_listed(of_post)}. A route names the errors that it has besides, and a route for "
        "everybody all of its errors."
    )
    rows = table(("status", "meaning and codes"), sorted(told.items()))
    return f"{textwrap.fill(usual, _WIDTH)}\n\n{rows}"


def _listed(words: Sequence[str]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
