from tests.model.conftest import keeping_redis, keeping_server

__all__ = ["keeping_redis", "keeping_server"]
