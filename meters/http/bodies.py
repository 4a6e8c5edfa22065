"""Bodies of requests: read strictly, as every other message is.

Litestar converts a body as leniently as a query string, where all is text: "100" and 1e3 would pass
for whole numbers. So the body is first decoded as its type says, and refused where it is not that,
or where it names a field twice: only one of them would count.
"""

import msgspec
from litestar.connection import ASGIConnection, Request
from litestar.datastructures import State
from litestar.exceptions import ValidationException
from litestar.handlers import BaseRouteHandler

from bonus.printable import escape_unprintable
from meters.wire.member_names import has_name_twice

_BODY = "data"
"""Under what name a handler takes the body."""


async def check_body(
    connection: ASGIConnection[BaseRouteHandler, object, object, State], handler: BaseRouteHandler
) -> None:
    """Refuse a body that is JSON and not what its route takes; it is a guard of an application.

    What is no JSON at all is refused by Litestar.

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
