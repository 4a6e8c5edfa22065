"""Strict checks of a request's body and query before the function of its route.

Litestar, the web framework, converts a body like a query, in which everything is text: it would
accept "100", 1e3 and 10.0 as whole numbers. If a name has two values, Litestar would use only one.
"""

import re
from collections.abc import Iterator
from typing import Final, get_args

import msgspec
from litestar import Request
from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.exceptions import ValidationException
from litestar.handlers import BaseRouteHandler

from bonus.json_input import has_name_twice
from bonus.printable import escape_unprintable

WebConnection = ASGIConnection[BaseRouteHandler, object, object, State]
WebRequest = Request[object, object, State]

_BODY: Final = "data"

_WRITTEN: Final = {
    int: (re.compile(r"-?(?:0|[1-9][0-9]{0,15})"), "a whole number in digits"),
    bool: (re.compile(r"true|false"), "true or false"),
}


async def check_body(connection: WebConnection, handler: BaseRouteHandler) -> None:
    """Raise a `ValidationException` if a JSON body does not strictly have its route's type.

    If a body is not JSON, Litestar itself refuses it.
    """
    parameter = handler.parsed_fn_signature.parameters.get(_BODY)
    if parameter is None or not isinstance(connection, Request):
        return
    body = await connection.body()
    try:
        msgspec.json.decode(body, type=parameter.raw)
    except msgspec.ValidationError as error:
        raise ValidationException(escape_unprintable(str(error))) from None
    except (msgspec.DecodeError, UnicodeDecodeError):
        return
    if has_name_twice(body):
        raise ValidationException("the body names a field twice")


async def check_query(connection: WebConnection, handler: BaseRouteHandler) -> None:
    """Raise a `ValidationException` if a number or truth value is not in its strict form."""
    given = connection.query_params
    parameters = handler.parsed_fn_signature.parameters.items()
    strict = [(name, kind) for name, parameter in parameters for kind in _kinds(parameter.raw)]
    # Routes without such parameters are not checked: Prometheus can repeat names in its queries.
    if strict and len(given) > len(set(given)):
        raise ValidationException("a name appears twice in the query")
    for name, kind in strict:
        pattern, words = _WRITTEN[kind]
        text = given.get(name)
        if text is not None and not pattern.fullmatch(text):
            raise ValidationException(f"{name} is not {words}")


def _kinds(annotation: object) -> Iterator[type]:
    if isinstance(annotation, type) and annotation in _WRITTEN:
        yield annotation
    for part in get_args(annotation):
        yield from _kinds(part)
