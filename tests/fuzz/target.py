"""What is fuzzed: a parser, good input to begin with, and what must hold whatever is put in."""

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
"""Puts one input in. It raises whatever the parser lets out, or an AssertionError of its own."""

CODE: Final = re.compile(r"[a-z_]{3,40}")


@dataclass(frozen=True, slots=True)
class Target:
    """A parser that reads from outside.

    Attributes:
        name: by which a run is asked for it.
        seeds: good input.
        opened: gives the check, and what it needs, from entry to exit.
        make: makes bad input of the seeds.
        share: how many of a hundred inputs of a run over everything are for it.
    """

    name: str
    seeds: Sequence[bytes]
    opened: Callable[[], AbstractAsyncContextManager[Check]]
    make: Callable[[Random, Sequence[bytes]], bytes] = mutated
    share: float = 1.0


def pure(check: Callable[[bytes], None]) -> Callable[[], AbstractAsyncContextManager[Check]]:
    """A check that needs nothing."""

    async def once(data: bytes) -> None:
        check(data)

    @asynccontextmanager
    async def opened() -> AsyncIterator[Check]:
        yield once

    return opened


def plain(data: bytes | str) -> Any:  # noqa: ANN401  (looked into as a stranger would)
    """JSON as a reader of the language's own has it."""
    return json.loads(data)


def check_refusal(payload: bytes, seq: int | None) -> Reply:
    """A refusal as the contract has it: a code, a message for people, the seq, and readable."""
    reply = REPLY.decode(payload)
    assert (reply.status, reply.seq) == ("refused", seq), payload[:200]
    assert reply.error is not None
    assert CODE.fullmatch(reply.error.code), reply.error
    assert len(reply.error.message) > 8, reply.error
    holding = {"claims"} if reply.error.code == "held" else set()
    assert set(plain(payload)) == {"seq", "status", "error"} | holding
    return reply
