"""A program that is missing is no reason to pass, and each worker has ports of its own."""

import pytest

from tests import waiting


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
