"""HTTP requests of `pitlink status` to services and to Prometheus."""

import ssl
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Final

import httpx

from meters.http.middleware import ServerSettings

_WITHIN_S: Final = 3.0


@asynccontextmanager
async def open_client(settings: ServerSettings) -> AsyncIterator[httpx.AsyncClient]:
    """Open a client that trusts the certificate of the floor file's service, and uses no proxy.

    Raises:
        UserError: the certificate cannot be read.
    """
    async with httpx.AsyncClient(
        timeout=_WITHIN_S, trust_env=False, verify=_trust(settings)
    ) as client:
        yield client


def failure_text(error: httpx.HTTPError | httpx.InvalidURL) -> str:
    """Return the reason of a failed request as text."""
    if isinstance(error, httpx.TimeoutException):
        return f"no answer within {_WITHIN_S:.0f} s"
    if isinstance(error, httpx.HTTPStatusError):
        return f"it answers with status {error.response.status_code}"
    return str(error) or type(error).__name__


def _trust(settings: ServerSettings) -> ssl.SSLContext:
    """Return TLS settings. A service is reached by its address, which no certificate has to name.

    So the name is not checked, but a service must have exactly the certificate of the floor file.
    """
    context = ssl.create_default_context(cafile=settings.certificate)
    context.verify_flags |= ssl.VERIFY_X509_PARTIAL_CHAIN
    context.check_hostname = settings.certificate is None
    return context
