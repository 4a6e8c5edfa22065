"""Acts of people on a link: they close it, open it, propose changes, and decide on proposals."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, cast

from bonus.wagers import MICROS_PER_CENT
from meters.ledger.two_people import NO_SETTERS, PinSetters
from meters.store.link_store import LinkStore

Switch = Literal["close", "open"]
Verdict = Literal["confirm", "withdraw"]


@dataclass(frozen=True, slots=True)
class NewTerms:
    """The present terms of a meter and the new terms.

    `digest` is over the terms of all meters of the link after the change. For a new wager amount,
    `seed_micros` is the least balance that the meter must have if it was never reseeded, and
    `reseed_micros` if it was.
    """

    before: str
    after: str
    digest: str
    seed_micros: int = 0
    reseed_micros: int = 0


class ChangeBook:
    """The writer of supervisors' and administrators' decisions on one link."""

    def __init__(self, store: LinkStore) -> None:
        self._store = store

    async def switch(self, act: Switch, by: str, reason: str, event: bytes) -> None:
        """Close the link, or open a closed link.

        Raises:
            BooksError: ``wrong_state`` if the link is already in the state that it would get. If it
                is closed, the error names the person who closed it.
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
        """
        await self._store.act("switch_link", act, by, reason, event)

    async def propose(self, proposal: str, kind: str, by: str, record: bytes) -> None:
        """Store a proposal to change a meter, so another person can confirm it.

        Raises:
            BooksError: ``not_closed`` if the link is open, or ``rounds_open`` with the count of
                open rounds.
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
        """
        keys = self._keys(proposal)
        await self._store.act("propose_change", proposal, kind, by, record, keys=keys)

    async def decide(
        self,
        proposal: str,
        verdict: Verdict,
        by: str,
        event: bytes,
        *,
        meter: str,
        terms: NewTerms | None = None,
        amount_cents: int = 0,
        cycle: int = 0,
        limit_cents: int = 0,
        setters: PinSetters = NO_SETTERS,
    ) -> None:
        """Confirm a proposal, so the change takes effect, or withdraw the proposal.

        `amount_cents` is added to the meter; a negative amount is subtracted. `cycle` is the
        meter's cycle at the time of the proposal. If the whole meter was won since, its cycle is
        higher, and the script refuses the proposal. `limit_cents` is the meter's payout limit after
        the change, 0 for no limit.

        Raises:
            BooksError: ``unknown_proposal``, ``wrong_state``, ``same_person``, ``not_closed``,
                ``rounds_open``, ``stale``, ``below_seed``, ``limit_too_low``, ``meter_short``,
                ``above_limit`` or ``meter_full``.
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
        """
        changed = (terms.before, terms.after, terms.digest) if terms else ("", "", "")
        least = (terms.seed_micros, terms.reseed_micros) if terms else (0, 0)
        await self._store.act(
            "decide_change", proposal, verdict, by, event, meter, *changed, amount_cents, cycle,
            *least, limit_cents * MICROS_PER_CENT, setters.text, keys=self._keys(proposal),
        )  # fmt: skip

    async def find(self, proposal: str) -> dict[str, str]:
        """Return a proposal's fields, or an empty mapping if there is no such proposal."""
        (fields,) = await self._read([proposal])
        return fields

    async def open_proposals(self) -> list[dict[str, str]]:
        """Return the proposals that nobody has decided, the oldest first."""
        redis, keys = self._store.redis, self._store.keys
        rows = cast("list[bytes]", await redis.zrange(keys.proposals, 0, -1))
        return await self._read([row.decode() for row in rows])

    async def _read(self, proposals: Sequence[str]) -> list[dict[str, str]]:
        async with self._store.redis.pipeline(transaction=False) as pipe:
            for proposal in proposals:
                pipe.hgetall(self._store.keys.proposal(proposal))
            rows: list[dict[bytes, bytes]] = await pipe.execute()
        return [{name.decode(): value.decode() for name, value in row.items()} for row in rows]

    def _keys(self, proposal: str) -> list[str]:
        keys = self._store.keys
        return [keys.proposals, keys.proposal(proposal)]
