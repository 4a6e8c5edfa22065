"""The reference of HTTP routes, from the service's OpenAPI document."""

import re
from collections.abc import Mapping
from typing import Any, Final

import msgspec

from meters.floor.roles import Role, in_words
from tests.documents.json_tables import object_tables, parameter_table, table, value_text
from tests.web.stand import Stand

_DUTY: Final = re.compile(r"\b(D[1-9][0-9]?)\b(?![`\]])")
_REFERENCE: Final = re.compile(r"#/components/schemas/(\w+)")
_KINDS: Final = {
    "text/event-stream": "server-sent events",
    "text/csv": "a spreadsheet",
    "application/pdf": "a PDF",
    "text/plain": "text",
}


def api_document() -> dict[str, Any]:
    """Return the OpenAPI document of a service."""
    document = Stand().app().openapi_schema.to_schema()
    found: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(document))
    return found


def http_reference(document: Mapping[str, Any]) -> str:
    """Return a section for each route, the errors, and a section for each object of a body."""
    schemas = dict(sorted(document["components"]["schemas"].items()))
    groups: dict[str, list[str]] = {}
    in_paths: dict[tuple[str, str, str], None] = {}
    for path, methods in document["paths"].items():
        for method, one in methods.items():
            if method != "head":
                route = _route(f"{method.upper()} {path}", one, schemas)
                in_paths |= dict.fromkeys(_parameters(one, "path", schemas))
                groups.setdefault(one["tags"][0], []).append(route)
    text = "\n\n".join(
        [
            "## Parameters in paths", parameter_table(sorted(in_paths), "parameter"),
            *(part for group, routes in groups.items() for part in (f"## {group}", *routes)),
            "## Errors", _errors(document),
            "## Bodies and answers", object_tables(schemas, _bodies(document)),
        ]
    )  # fmt: skip
    return _DUTY.sub(r"[\1](../compliance/duties.md)", text)


def _route(name: str, one: Mapping[str, Any], schemas: Mapping[str, Any]) -> str:
    facts = [f"For {_who(one)}."]
    if body := one.get("requestBody"):
        facts.append(f"Body: {value_text(_schema(body), schemas)}.")
    refused = [status for status, answer in one["responses"].items() if _is_error(answer)]
    for status, answer in one["responses"].items():
        if status not in refused:
            facts.append(f"Answer: {status}, {_answer(answer, schemas)}.")
    if refused:
        facts.append(f"[Errors](#errors): {', '.join(refused)}.")
    parts = [f"### {name}", one.get("description", ""), " ".join(facts)]
    if rows := _parameters(one, "query", schemas):
        parts.append(parameter_table(rows, "parameter"))
    return "\n\n".join(parts)


def _parameters(
    one: Mapping[str, Any], where: str, schemas: Mapping[str, Any]
) -> list[tuple[str, str, str]]:
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
        return "everybody"
    roles = [in_words(Role(each)) for each in needed[0]["session"]]
    return " or ".join(filter(None, (", ".join(roles[:-1]), *roles[-1:]))) or "every signed-in user"


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
    return table(("status", "meaning and codes"), sorted(told.items()))
