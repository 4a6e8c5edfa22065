"""Queries of requests: a number is its digits, and nothing is said twice.

Litestar converts a query leniently: 1e1 and 10.0 would pass for 10, and of two values of a name one
would count.
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
    """Refuse a query whose numbers and choices are not written as such; a guard of an application.

    Raises:
        ValidationException: the reason.
    """
    given = connection.query_params
    parameters = handler.parsed_fn_signature.parameters.items()
    strict = [(name, kind) for name, parameter in parameters for kind in _kinds(parameter.raw)]
    # What takes no such parameter is left alone: a scrape of Prometheus may repeat its own.
    if strict and len(given) > len(set(given)):
        raise ValidationException("a name stands twice in the query")
    for name, kind in strict:
        pattern, words = _WRITTEN[kind]
        text = given.get(name)
        if text is not None and not pattern.fullmatch(text):
            raise ValidationException(f"{name} is not {words}")


def _kinds(annotation: object) -> Iterator[type]:
    """Give the kinds of value in a parameter's type that must be written strictly."""
    if isinstance(annotation, type) and annotation in _WRITTEN:
        yield annotation
    for part in get_args(annotation):
        yield from _kinds(part)
