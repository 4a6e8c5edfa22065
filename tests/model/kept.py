from datetime import date, datetime
from pathlib import Path

from redis.asyncio import Redis

from meters.archive.archive_days import ArchiveFiles
from meters.archive.archiver import Archiver, ArchiveResult
from meters.audit.archive_audit import audit_link
from meters.audit.link_audit import Finding
from meters.ledger.checkpoint import Mark
from meters.store.floor_file_approval import Configuration
from tests.approving import approve
from tests.model.days import A_DAY, Days
from tests.model.pit import BONUS, FIVE_CARD, FIVE_OF_SIX, FLOOR, PROGRESSIVE, RAGS, Pit
from tests.restore.stores import Kept as Copy

_WEEK: list[tuple[Copy, dict[str, int], datetime]] = []
EVERYTHING = " ".join((PROGRESSIVE, FIVE_CARD, FIVE_OF_SIX, BONUS))


class Kept:
    """Link with an archive of its closed days."""

    def __init__(self, pit: Pit, home: Path) -> None:
        self.pit = pit
        self.days = Days(pit)
        self.archive = ArchiveFiles(home, pit.link.id)
        self.rounds = 0
        self._table = "T-1"

    @classmethod
    async def opened(cls, redis: Redis, home: Path, floor: str = FLOOR) -> "Kept":
        kept = Kept(Pit(redis, floor), home / "archive")
        await kept.pit.store.open("service")
        await kept.open()
        return kept

    async def open(self) -> None:
        await self.days.open()
        await approve(Configuration(self.pit.floor, self.pit.store))

    async def play(self, *, decide: bool = True) -> str:
        """Play a round with wins, one of them a percentage; return the claim of that one.

        Undecided wins hold their table, so another table then plays the rest.
        """
        self.rounds += 1
        reply = await self.pit.round(
            {3: EVERYTHING, 5: EVERYTHING}, {3: "As Ks Qs", 5: RAGS},
            community="Js Ts", round_id=f"R{self.rounds}", table=self._table,
        )  # fmt: skip
        claims = [claim.claim for claim in reply.claims or ()]
        await self.pit.pay_all(claims if decide else ())
        if not decide:
            self._table = "T-2"
        return claims[0]

    async def week(self, days: int = 3, rounds: int = 2) -> None:
        """Play days. Redis copies the usual ones if they are the first that the link plays."""
        new = await self.pit.store.last_entry() == len(self.pit.link.meter) + 1
        if not new or (days, rounds) != (3, 2):
            await self._play_days(days, rounds)
        elif _WEEK:
            copy, seqs, self.days.clock.now = _WEEK[0]
            await copy.put_back(self.pit.redis)
            self.pit.seq.update(seqs)
            self.rounds = days * rounds
        else:
            await self._play_days(days, rounds)
            copy = await Copy.of(self.pit.redis)
            _WEEK.append((copy, dict(self.pit.seq), self.days.clock.now))

    async def _play_days(self, days: int, rounds: int) -> None:
        for _ in range(days):
            for _ in range(rounds):
                await self.play()
            await self.days.keep(A_DAY)

    async def run(self, live_days: int = 1, *, lost: bool = False) -> ArchiveResult:
        archiver = Archiver(self.pit.store, self.archive, live_days)
        return await archiver.run(lambda _, __: None, lost=lost)

    async def live(self) -> list[int]:
        return [number for number, _ in await self.pit.store.entries(0, 10_000)]

    async def audit(
        self, seen: Mark | None = None, since: date | None = None, until: date | None = None
    ) -> Finding:
        seen = seen or Mark(self.pit.link.id)
        return await audit_link(
            self.pit.store, self.archive, seen, lambda *_: None, since=since, until=until
        )
