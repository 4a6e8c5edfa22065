"""A link on a Redis, for the tests of restoring."""

from tests.model.conftest import keeping_redis, keeping_server, pit, pit_redis, pit_server, soon

__all__ = ["keeping_redis", "keeping_server", "pit", "pit_redis", "pit_server", "soon"]
