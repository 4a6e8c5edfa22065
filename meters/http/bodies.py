"""Strict decoding of request bodies, as for every other message.

Litestar converts a body as leniently as a query string, in which everything is text: "100" and 1e3
would be accepted as whole numbers. So the body is first decoded according to its type. It is
refused if it does not match, or if it names a field twice, because only one of the two would count.
"""

import msgspec
from litestar.connection import ASGIConnection, Request
from litestar.datastructures import State
from litestar.exceptions import ValidationException
from litestar.handlers import BaseRouteHandler

from bonus.printable import escape_unprintable
from meters.wire.member_names import has_name_twice

_BODY = "data"
"""The name of the handler parameter that receives the body."""


async def check_body(
    connection: ASGIConnection[BaseRouteHandler, object, object, State], handler: BaseRouteHandler
) -> None:
    """Refuse a JSON body that its route does not accept; used as a guard of an application.

    Litestar refuses a body that is not JSON.

    Raises:
        ValidationException: the reason.
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
