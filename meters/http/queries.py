"""Strict checks of query strings: a whole number has only digits, and no name occurs twice.

Litestar, the web framework, would accept 1e1 and 10.0 as 10, and use only one of two values.
"""

import re
from collections.abc import Iterator
from typing import Final, get_args

from litestar.connection import ASGIConnection
from litestar.datastructures import State
from litestar.exceptions import ValidationException
from litestar.handlers import BaseRouteHandler

_WRITTEN: Final = {
    int: (re.compile(r"-?(?:0|[1-9][0-9]{0,15})"), "a whole number in digits"),
    bool: (re.compile(r"true|false"), "true or false"),
}


async def check_query(
    connection: ASGIConnection[BaseRouteHandler, object, object, State], handler: BaseRouteHandler
) -> None:
    """Refuse a query in which a number or a choice does not have the strict form.

    Litestar calls this guard before the route's function.

    Raises:
        ValidationException: the query is not accepted. The message has the reason.
    """
    given = connection.query_params
    parameters = handler.parsed_fn_signature.parameters.items()
    strict = [(name, kind) for name, parameter in parameters for kind in _kinds(parameter.raw)]
    # Routes without such parameters are not checked, because Prometheus can repeat its own names in
    # a query.
    if strict and len(given) > len(set(given)):
        raise ValidationException("a name is twice in the query")
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
