from litestar import Request
from litestar.datastructures import State

WebRequest = Request[object, object, State]
