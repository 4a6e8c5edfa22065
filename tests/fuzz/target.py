"""Fuzz targets: a parser, good input to begin with, and what must hold for every input."""

import json
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import AbstractAsyncContextManager, asynccontextmanager
from dataclasses import dataclass
from random import Random
from typing import Any, Final

from meters.wire.messages import REPLY, Reply
from tests.fuzz.junk import mutated

Check = Callable[[bytes], Awaitable[None]]
"""Check of one input. It raises any error that the parser lets through, or an AssertionError."""

CODE: Final = re.compile(r"[a-z_]{3,40}")


@dataclass(frozen=True, slots=True)
class Target:
    """A parser that reads from outside; `share` is its percentage of the inputs of a whole run."""

    name: str
    seeds: Sequence[bytes]
    opened: Callable[[], AbstractAsyncContextManager[Check]]
    make: Callable[[Random, Sequence[bytes]], bytes] = mutated
    share: float = 1.0


def pure(check: Callable[[bytes], object]) -> Callable[[], AbstractAsyncContextManager[Check]]:
    async def once(data: bytes) -> None:
        check(data)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Check]:
        yield once

    return opened


def plain(data: bytes | str) -> Any:  # noqa: ANN401  (looked into as a stranger would)
    return json.loads(data)


def check_refusal(payload: bytes, seq: int | None) -> Reply:
    reply = REPLY.decode(payload)
    assert (reply.status, reply.seq) == ("refused", seq), payload[:200]
    assert reply.error is not None
    assert CODE.fullmatch(reply.error.code), reply.error
    assert len(reply.error.message) > 8, reply.error
    holding = {"claims"} if reply.error.code == "held" else set()
    assert set(plain(payload)) == {"seq", "status", "error"} | holding
    return reply


def check_message(message: str, file: str, data: bytes) -> None:
    where, line, reason = message.split(":", 2)
    assert where == file
    assert 1 <= int(line) <= data.count(b"\n") + 1, message
    assert reason.strip(), message
