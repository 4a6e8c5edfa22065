"""Access to one link's data in Redis. Each change of money is made by one atomic Lua script."""

from collections.abc import Mapping, Sequence
from typing import Final, cast

import msgspec
from redis.commands.core import AsyncScript

from bonus.wagers import MICROS_PER_CENT
from meters.floor.floor_file import Link, Meter
from meters.ledger.accounts import meter_account, reserve_account
from meters.ledger.chain import CHAIN, chained_texts
from meters.ledger.link_state import (
    Closure,
    LedgerHead,
    LinkState,
    MeterBalances,
    MeterState,
    OpenDay,
)
from meters.ledger.money_terms import LinkTerms, adopted, terms_text
from meters.ledger.redis_layout import (
    DEALT_KEPT,
    REPLIES_KEPT,
    SCHEMA_FIELD,
    schema_problem,
    version_of,
)
from meters.ledger.script_steps import (
    SCRIPT_ANSWERS,
    HiddenState,
    ReplyParts,
    ScriptAnswers,
    ScriptStep,
    reply_text,
)
from meters.process.clock import now_text
from meters.store.facility_notes import FacilityNote
from meters.store.health import run_synced
from meters.store.hidden_value_seal import NO_HIDDEN_VALUES, HiddenValueError, HiddenValues
from meters.store.link_reader import LinkReader
from meters.store.redis_clients import AnyRedis, redis_of
from meters.store.script_loader import load_script
from meters.store.slip_register import SlipRegister
from meters.store.stored_entries import StreamEntry, compress_texts, unpack_entry

FIXED_KEYS: Final = 7
"""Number of Redis keys that every Lua script of a link receives first."""

APPLY_KEYS: Final = FIXED_KEYS + 6
"""Number of Redis keys that the script `apply_events` receives before the keys of claims."""

_LINK_FIELDS: Final = (
    "terms", "closed", "closed_by", "closed_at", "rounds", "changes", "entries", "chain", "day",
    "day_closed",
)  # fmt: skip
TERMS_CHANGED: Final = "the link's terms in Redis have changed since the link was opened"


class TermsError(Exception):
    """A link must not operate, because of its data in Redis or of its floor file (duty D10).

    The terms (such as rates) of its meters are missing, wrong or not approved, or the data has
    another schema version.
    """


class BooksError(Exception):
    """A refusal by a Lua script of a link. The script changed nothing.

    `status` is the reason in the script's answer, such as ``same_person``; `detail` is the rest of
    the answer. For ``same_person``, `setter` is the person who set a PIN; empty if one user did
    both acts.
    """

    def __init__(self, status: str, detail: str = "", setter: str = "") -> None:
        super().__init__(f"{status} {detail}".strip())
        self.status = status
        self.detail = detail
        self.setter = setter


class WrongStateError(BooksError):
    """A claim, a request or a proposal is not in the state that a decision on it needs.

    For example, somebody has already decided the claim. `state` is empty if the thing does not
    exist. `by` is the person who set the state, if anybody did.
    """

    def __init__(self, state: str, by: str) -> None:
        super().__init__("wrong_state", " by ".join(filter(None, (state, by))))
        self.state = state
        self.by = by


class LinkStore(LinkReader):
    """The reader and writer of one link's data in Redis.

    If Redis fails, every method that waits raises a `RedisError`. `filed` is the link as in the
    floor file; `link` also has the parameters that proposals changed. Every Lua script of the link
    receives `fixed_keys` first. With `must_keep`, as in a service, Redis must sync all writes
    before a batch is answered. `head` is the last ledger entry that any answer to a batch has
    named: batches run in parallel, so answers can arrive in another order.
    """

    def __init__(
        self, redis: AnyRedis, link: Link, hidden_values: HiddenValues = NO_HIDDEN_VALUES
    ) -> None:
        self.slip_register = SlipRegister(redis)
        self.facility = FacilityNote(redis)
        self._servers = redis
        super().__init__(redis_of(redis, link.id), link.id)
        self.link = link
        self.hidden_values = hidden_values
        self.terms = LinkTerms(link)
        self.filed = link
        self.head = LedgerHead(0, "")
        self.must_keep = False
        self.fixed_keys = (
            self.keys.accounts,
            self.keys.tallies,
            self.keys.meters,
            self.keys.ledger,
            self.keys.waiting,
            self.keys.wins,
            self.keys.acts,
        )
        self._scripts: dict[str, AsyncScript] = {}

    def of_link(self, link: Link) -> "LinkStore":
        return LinkStore(self._servers, link, self.hidden_values)

    def script(self, name: str) -> AsyncScript:
        if name not in self._scripts:
            self._scripts[name] = self.redis.register_script(load_script(name))
        return self._scripts[name]

    async def call(
        self, script: str, *args: str | int | bytes, keys: Sequence[str] = ()
    ) -> list[str]:
        """Run a script on the fixed keys and `keys`, at the present time. Return its answer.

        Raises:
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
        """
        rows = await self.script(script)(keys=[*self.fixed_keys, *keys], args=[now_text(), *args])
        answer = [text.decode() for text in cast("list[bytes]", rows)]
        if answer == ["terms"]:
            raise TermsError(TERMS_CHANGED)
        return answer

    async def act(
        self, script: str, *args: str | int | bytes, keys: Sequence[str] = ()
    ) -> list[str]:
        """Run the script of an act. Return the values after ``done`` in its answer.

        Raises:
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`.
            WrongStateError: the claim, request or proposal is not in the state that the act needs.
            BooksError: the script refused.
        """
        return done(await self.call(script, self.terms.digest, *args, keys=keys))

    async def open(self, by: str) -> None:
        """Seed new meters, and check that the terms of other meters are unchanged.

        A confirmed proposal can change a parameter without a change of the floor file. The new
        value stays in force while the floor file has the old or the new value.

        Raises:
            TermsError: the meters or their terms in Redis differ from the floor file, Redis has
                data of another schema version (duties D10, D12), or no secret of this service opens
                the hidden value of a meter.
        """
        stored = (await self.snapshot()).meters
        link = adopted(self.filed, stored)
        terms = LinkTerms(link)
        try:
            first = {
                meter.meter_id: self._first_hidden_value(meter)
                if f"terms:{meter.meter_id}" not in stored
                else ("", "")
                for meter in link.meter
            }
            self._check_hidden_values(link, stored)
        except HiddenValueError as error:
            raise TermsError(str(error)) from None
        opening = [
            text
            for meter, filed in zip(link.meter, self.filed.meter, strict=True)
            for text in (
                meter.meter_id,
                terms_text(meter),
                terms_text(filed),
                str(meter.terms.seed_cents * MICROS_PER_CENT),
                *first[meter.meter_id],
            )
        ]
        match await self.call("open_link", terms.digest, by, *opening):
            case ["open"]:
                self.link, self.terms = link, terms
            case ["schema", version]:
                raise TermsError(self._other_schema(version_of(version, begun=True)))
            case ["differs", meter, stored_terms] if stored_terms != stored.get(f"terms:{meter}"):
                # A proposal was confirmed after the terms were read: read them again.
                await self.open(by)
            case ["differs", meter, stored_terms]:
                raise TermsError(
                    f"meter {meter} has other terms in Redis, {stored_terms}: set the floor"
                    " file back, and change parameters by proposal while the link is closed"
                )
            case ["lost", meter]:
                raise TermsError(f"Redis has lost the terms of meter {meter}")
            case ["dropped", meter]:
                raise TermsError(f"Redis holds meter {meter}, which the floor file does not name")

    def _first_hidden_value(self, meter: Meter) -> tuple[str, str]:
        """Return the entry of a must-hit-by meter's first hidden value, and the sealed value.

        The script uses them only if the meter is new.
        """
        if (hit_by := meter.must_hit_by) is None:
            return "", ""
        drawn = self.hidden_values.draw(
            meter.meter_id,
            1,
            start_micros=hit_by.minimum * MICROS_PER_CENT,
            maximum_cents=hit_by.maximum,
            distribution=hit_by.distribution,
        )
        return drawn.text, drawn.record.sealed

    def _check_hidden_values(self, link: Link, stored: Mapping[str, str]) -> None:
        for meter in (meter.meter_id for meter in link.meter if meter.must_hit_by):
            if sealed := stored.get(f"hidden:{meter}"):
                self.hidden_values.read(meter, int(stored[f"cycle:{meter}"]), sealed)

    async def hidden_states(self, meters: Sequence[str]) -> Sequence[HiddenState]:
        """Return the states of must-hit-by meters, read at one moment."""
        async with self.redis.pipeline(transaction=True) as pipe:
            for account in (meter_account, reserve_account):
                pipe.hmget(self.keys.accounts, [account(meter) for meter in meters])
            for field in ("cycle", "hidden"):
                pipe.hmget(self.keys.meters, [f"{field}:{meter}" for meter in meters])
            micros, reserves, cycles, sealed = await pipe.execute()
        return [
            HiddenState(
                meter,
                int(micros[index] or 0),
                int(reserves[index] or 0),
                int(cycles[index] or 0),
                (sealed[index] or b"").decode(),
            )
            for index, meter in enumerate(meters)
        ]

    async def schema(self) -> int | None:
        """Return the schema version of the link's data, or None if Redis has no data yet.

        Raises:
            ValueError: the value in Redis is not a schema version.
        """
        fields = [SCHEMA_FIELD, "terms", "entries"]
        noted, *others = await self.redis.hmget(self.keys.meters, fields)
        return version_of(noted, begun=any(others))

    async def schema_problem(self) -> str | None:
        """Return the reason why this release must not use the link's data, or None (duty D10).

        Raises:
            ValueError: the schema version in Redis is not valid.
        """
        return self._other_schema(await self.schema())

    def _other_schema(self, version: int | None) -> str | None:
        return schema_problem(f"the data of link {self.link.id} is", version)

    async def apply(
        self,
        steps: Sequence[ScriptStep],
        texts: Sequence[tuple[bytes, ReplyParts]],
        claim_keys: Sequence[str] = (),
    ) -> ScriptAnswers:
        """Apply a batch of table events in one atomic script call.

        `texts` are the texts and replies of the events for the ledger; an event without a ledger
        entry has empty texts. In front of an event that wins must-hit-by meters, `texts` has the
        entries of the new hidden values. `claim_keys` are the Redis keys of the claims that the
        events open. An event names such a key by its place among all keys of the script.

        Raises:
            TermsError: the terms (such as rates) of a meter have changed; nothing was done.
            NotSyncedError: Redis can still lose the changes, so the replies must not be sent.
            RedisError: Redis failed. It is not known if the batch was applied.
        """
        keys = self.keys
        tables = (keys.tables, keys.rounds, keys.replies, keys.repeated_claims)
        every = [*self.fixed_keys, *tables, keys.asks, keys.dealt, *claim_keys]
        args: list[str | int | bytes] = [now_text(), self.terms.digest, REPLIES_KEPT]
        args += [msgspec.msgpack.encode(steps), DEALT_KEPT, compress_texts(texts)]
        # If a reply has amounts that only the script knows, the script adds its digest.
        args += [
            chained_texts(event, reply_text(parts, ()) if len(parts) == 1 else None)
            for event, parts in texts
        ]
        if self.must_keep:
            output = await run_synced(self.script("apply_events"), every, args)
        else:
            output = await self.script("apply_events")(keys=every, args=args)
        found = SCRIPT_ANSWERS.decode(output)
        if not found.terms:
            raise TermsError(TERMS_CHANGED)
        if found.entry > self.head.entry or not self.head.in_ledger:
            self.head = LedgerHead(found.entry, found.chain, found.in_ledger)
        answers = await self.add_replies(found.answers)
        return msgspec.structs.replace(found, answers=tuple(answers))

    async def meter_balances(self) -> MeterBalances:
        """Return all meter balances, read at one moment. This works even before `open`."""
        ids = [meter.meter_id for meter in self.link.meter]
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hmget(self.keys.accounts, [meter_account(meter) for meter in ids])
            pipe.hmget(self.keys.meters, ["entries", "chain"])
            micros, (entries, chain) = await pipe.execute()
        held = {meter: int(each or 0) for meter, each in zip(ids, micros, strict=True)}
        return MeterBalances(int(entries or 0), (chain or b"").decode(), held)

    async def state(self) -> LinkState:
        """Return the state of the link and of all its meters at one moment.

        Raises:
            TermsError: the terms (such as rates) of a meter changed after `LinkStore.open`, or the
                data has another schema version (duty D10).
        """
        ids = [meter.meter_id for meter in self.link.meter]
        names = (*_LINK_FIELDS, SCHEMA_FIELD)
        fields = [f"{name}:{meter}" for meter in ids for name in ("version", "cycle", "pending")]
        async with self.redis.pipeline(transaction=True) as pipe:
            pipe.hmget(self.keys.accounts, "house", *(meter_account(meter) for meter in ids))
            pipe.hmget(self.keys.meters, *names, *fields)
            pipe.xrevrange(self.keys.ledger, count=1)
            (_, *micros), values, last = await pipe.execute()
        counts = values[len(names) :]
        fields_read = zip(names, values, strict=False)
        link = {name: of.decode() for name, of in fields_read if of is not None}
        if link.get("terms") != self.terms.digest:
            raise TermsError(TERMS_CHANGED)
        if other := self._other_schema(version_of(values[len(names) - 1], begun=True)):
            raise TermsError(other)
        meters = tuple(
            MeterState(
                meter=meter,
                amount_cents=int(micros[index] or 0) // MICROS_PER_CENT,
                version=int(counts[3 * index] or 0),
                cycle=int(counts[3 * index + 1] or 0),
                pending=int(counts[3 * index + 2] or 0) > 0,
            )
            for index, meter in enumerate(ids)
        )
        return LinkState(
            meters=meters,
            closure=Closure(link["closed"], link.get("closed_by", ""), link.get("closed_at", ""))
            if "closed" in link
            else None,
            rounds_open=int(link.get("rounds", "0")),
            floor_changes=int(link.get("changes", "0")),
            head=_head(int(link.get("entries", "0")), link.get("chain", ""), last),
            day=OpenDay(link.get("day", ""), link.get("day_closed", "")),
        )


def done(answer: Sequence[str]) -> list[str]:
    """Return the values after ``done`` in a script's answer, or raise its refusal as an error."""
    match answer:
        case ["done", *result]:
            return result
        case ["wrong_state", state, who]:
            raise WrongStateError(state, who)
        case ["unknown_claim" | "unknown_ask"]:
            raise WrongStateError("", "")
        case [status, *detail]:
            raise BooksError(status, *detail)
    raise TypeError(f"the script answered {answer!r}")


def _head(entry: int, chain: str, last: Sequence[StreamEntry]) -> LedgerHead:
    """Make a `LedgerHead`, and compare it with `last`, the last entry of the stream."""
    had = [(row[0].decode(), unpack_entry(row)[-1][1].get(CHAIN, b"").decode()) for row in last]
    return LedgerHead(entry, chain, had == ([(f"{entry}-0", chain)] if entry else []))
