"""Server of displays in a separate process, for tests that stop or end it; prints its address."""

import asyncio

from tests.web.stand import Stand


async def _serve() -> None:
    stand = Stand()
    await stand.start()
    stand.put(112_362, 1)
    stand.keep_beating()
    print(stand.url, flush=True)  # noqa: T201
    await asyncio.Event().wait()


if __name__ == "__main__":
    asyncio.run(_serve())
