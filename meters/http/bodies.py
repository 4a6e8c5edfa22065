"""Decoding of request bodies, as strict as that of tables' messages.

Litestar, the web framework, converts a body as leniently as a query string, in which everything is
text: it would accept "100" and 1e3 as whole numbers. So the body is first decoded strictly, as the
type that the route declares. A body that names a field twice is also refused, because only one of
the two values would count.
"""

import msgspec
from litestar.connection import ASGIConnection, Request
from litestar.datastructures import State
from litestar.exceptions import ValidationException
from litestar.handlers import BaseRouteHandler

from bonus.printable import escape_unprintable
from meters.wire.messages import has_name_twice

_BODY = "data"
"""The parameter that receives the body in a route's function."""


async def check_body(
    connection: ASGIConnection[BaseRouteHandler, object, object, State], handler: BaseRouteHandler
) -> None:
    """Refuse a JSON body that its route does not accept.

    Litestar calls this guard before the route's function, and itself refuses a body that is not
    JSON.

    Raises:
        ValidationException: the body is not accepted. The message has the reason.
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
