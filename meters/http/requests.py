"""Type of a request to a page that needs no sign-in."""

from litestar import Request
from litestar.datastructures import State

WebRequest = Request[object, object, State]
