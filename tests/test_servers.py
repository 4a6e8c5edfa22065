"""The servers that the tests start are real and private, and keep their data when killed."""

import pytest
import redis

from tests import waiting
from tests.servers import RedisServer


def test_redis_keeps_what_it_acknowledged_when_it_is_killed(redis_server: RedisServer) -> None:
    with redis.Redis.from_url(redis_server.url) as client:
        client.set("kept", "yes")
    redis_server.kill()
    assert not redis_server.running
    redis_server.start()
    with redis.Redis.from_url(redis_server.url) as client:
        assert client.get("kept") == b"yes"
        assert client.config_get("appendfsync") == {"appendfsync": "always"}
        assert client.config_get("maxmemory-policy") == {"maxmemory-policy": "noeviction"}


def test_missing_program_skips_here_and_fails_in_ci(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("CI", raising=False)
    with pytest.raises(pytest.skip.Exception):
        waiting.require("no-such-program")
    monkeypatch.setenv("CI", "1")
    with pytest.raises(pytest.fail.Exception):
        waiting.require("no-such-program")


def test_a_port_is_chosen_once_and_by_one_worker(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PYTEST_XDIST_WORKER_COUNT", "3")
    parts = []
    for worker in ("gw0", "gw1", "gw2"):
        monkeypatch.setenv("PYTEST_XDIST_WORKER", worker)
        parts.append({waiting.free_port() for _ in range(50)})
    assert [len(part) for part in parts] == [50] * 3
    assert max(parts[0]) < min(parts[1])
    assert max(parts[1]) < min(parts[2])
