import asyncio
import ssl
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Final

import httpx
from cryptography import x509
from cryptography.hazmat.primitives.serialization import Encoding

from bonus.errors import UserError
from meters.http.middleware import ServerSettings

_WITHIN_S: Final = 3.0
_BYTES_MAX: Final = 64 * 1024 * 1024


@asynccontextmanager
async def open_client(settings: ServerSettings) -> AsyncIterator[httpx.AsyncClient]:
    """Open a client that trusts the certificate of the floor file's service, and uses no proxy.

    Raises:
        UserError: the file of the certificate has none.
        OSError: it cannot be read.
    """
    async with httpx.AsyncClient(
        timeout=_WITHIN_S, trust_env=False, verify=_trust(settings)
    ) as client:
        yield client


async def get(
    client: httpx.AsyncClient,
    url: str,
    *,
    headers: Mapping[str, str] | None = None,
    params: Mapping[str, str] | None = None,
) -> httpx.Response:
    """Return the whole answer to a request. Its time and its length are limited.

    The limits of httpx are for each part of an answer, so it would wait for a slow one forever.

    Raises:
        httpx.HTTPError: there is no answer, or it is too slow or too long.
        httpx.InvalidURL: the address cannot be used.
    """
    data = bytearray()
    try:
        async with (
            asyncio.timeout(_WITHIN_S),
            client.stream("GET", url, headers=headers, params=params) as answer,
        ):
            async for part in answer.aiter_bytes():
                data += part
                if len(data) > _BYTES_MAX:
                    raise httpx.RemoteProtocolError("its answer is too long")
    except TimeoutError:
        raise httpx.ReadTimeout("") from None
    return httpx.Response(answer.status_code, content=bytes(data), request=answer.request)


def failure_text(error: httpx.HTTPError | httpx.InvalidURL) -> str:
    if isinstance(error, httpx.TimeoutException):
        return f"no answer within {_WITHIN_S:.0f} s"
    if isinstance(error, httpx.HTTPStatusError):
        return f"it answers with status {error.response.status_code}"
    return str(error) or type(error).__name__


def _trust(settings: ServerSettings) -> ssl.SSLContext:
    """Return TLS settings. A service is reached by its address, which no certificate has to name.

    So the name is not checked, but a service must have exactly the certificate of the floor file.
    The certificates after it in the file belong to authorities, which sign those of others too.
    """
    if settings.certificate is None:
        return ssl.create_default_context()
    try:
        own = x509.load_pem_x509_certificate(Path(settings.certificate).read_bytes())
    except ValueError:
        raise UserError(f"{settings.certificate} is not a certificate") from None
    context = ssl.create_default_context(cadata=own.public_bytes(Encoding.DER))
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.check_hostname = False
    return context
