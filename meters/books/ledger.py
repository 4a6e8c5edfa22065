"""Replaying a link's ledger: every transfer again, on books of our own."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

import msgspec

from bonus.settling.holdings import MICROS_PER_CENT
from bonus.wagers import METER_OF
from meters.books.accounts import PAID, meter_account, reserve_account
from meters.books.terms import TermsText, read_terms
from meters.wire.messages import Reply, Wagers

PROBLEMS_MAX: Final = 100
"""After so many the ledger is plainly broken, and more would not help to find out why."""


class Transfer(msgspec.Struct, frozen=True, array_like=True):
    """A movement of micros from one account to another, in a meter's cycle."""

    source: str
    target: str
    micros: int
    cycle: int


_TRANSFERS: Final = msgspec.json.Decoder(tuple[Transfer, ...])
_WAGERS: Final = msgspec.json.Decoder(Wagers)
_REPLY: Final = msgspec.json.Decoder(Reply)


class _NewTerms(msgspec.Struct, frozen=True):
    """What a change of a parameter says of a meter, as far as a replay needs it."""

    meter: str
    terms: str


_NEW_TERMS: Final = msgspec.json.Decoder(_NewTerms)
_BY_PEOPLE: Final = frozenset({b"validate", b"reject", b"pay", b"propose", b"withdraw", b"adjust"})
_NEVER_NEGATIVE: Final = ("meter:", "reserve:", "overflow:", "claim:", "paid")


@dataclass
class Totals:
    """What the ledger counts: wagers and contributions net of voided rounds."""

    rounds: int = 0
    voids: int = 0
    wagers: int = 0
    wagered_cents: int = 0
    contributions_micros: int = 0
    wins: int = 0
    won_cents: int = 0


@dataclass
class Replay:
    """The books of one link as its ledger alone makes them.

    Attributes:
        entries: the number of the last entry replayed.
        balances: micros by account.
        problems: what does not hold, in words.
    """

    entries: int = 0
    balances: dict[str, int] = field(default_factory=dict)
    problems: list[str] = field(default_factory=list)
    totals: Totals = field(default_factory=Totals)
    _terms: dict[str, TermsText] = field(default_factory=dict)
    _closed: bool = False
    _open: dict[str, Wagers] = field(default_factory=dict)

    def take(self, number: int, fields: Mapping[str, bytes]) -> None:
        """Replay one entry, and hold it against what its event says it must be."""
        if number != self.entries + 1:
            self._problem(f"entry {number} follows entry {self.entries}: some are missing")
        self.entries = number
        try:
            transfers = _TRANSFERS.decode(fields["transfers"])
            for moved in transfers:
                self._move(number, moved)
            match fields["kind"]:
                case b"wagers":
                    self._check_wagers(number, fields, transfers)
                case b"result":
                    self._check_result(number, fields, transfers)
                case b"void":
                    self._note_void(fields)
                case kind:
                    self._take_act(number, kind, fields["event"], transfers)
        except (msgspec.DecodeError, KeyError, ValueError) as error:
            self._problem(f"entry {number} cannot be read: {error}")

    def _take_act(
        self, number: int, kind: bytes, event: bytes, transfers: tuple[Transfer, ...]
    ) -> None:
        """Replay what no table did: above all, under which terms the meters are from here on."""
        match kind:
            case b"seed":
                self._terms[_seeded(transfers)] = read_terms(event)
            case b"parameter":
                changed = _NEW_TERMS.decode(event)
                self._terms[changed.meter] = read_terms(changed.terms)
            case b"close" | b"open":
                self._closed = kind == b"close"
            case _ if kind not in _BY_PEOPLE:
                self._problem(f"entry {number} is of a kind {kind!r} that there is not")

    def other_terms(self, meters: Mapping[str, str]) -> list[str]:
        """Which meters' terms in the store are not those of the ledger, in words (duty D12).

        Args:
            meters: what the store holds of the meters, ``terms:{meter}`` among it.
        """
        return [
            f"meter {meter} has other terms in the store than in the ledger: {stored}"
            for meter, terms in self._terms.items()
            if (stored := meters.get(f"terms:{meter}")) is not None
            and stored != msgspec.json.encode(terms).decode()
        ]

    def other_standing(self, meters: Mapping[str, str]) -> list[str]:
        """Where the store says otherwise than the ledger how the link stands, in words.

        Args:
            meters: what the store holds of the link: ``closed`` and ``rounds`` among it.
        """
        found = []
        if ("closed" in meters) != self._closed:
            said = "closed" if self._closed else "open"
            found.append(f"the ledger says that the link is {said}, the store that it is not")
        rounds = int(meters.get("rounds", "0"))
        if rounds != len(self._open):
            found.append(f"the store counts {rounds} rounds in hand, the ledger {len(self._open)}")
        return found

    def differences(self, accounts: Mapping[str, int]) -> list[str]:
        """Where the store's balances are not the ledger's, by how much, in words."""
        found = [
            f"{account} holds {accounts.get(account, 0)} micros, the ledger says"
            f" {self.balances.get(account, 0)}: {_signed(accounts, self.balances, account)}"
            for account in sorted(accounts.keys() | self.balances.keys())
            if accounts.get(account, 0) != self.balances.get(account, 0)
        ]
        if sum(accounts.values()) != 0:
            found.append(f"all accounts sum to {sum(accounts.values())} micros, not to zero")
        return found

    def _problem(self, what: str) -> None:
        if len(self.problems) < PROBLEMS_MAX:
            self.problems.append(what)

    def _move(self, number: int, moved: Transfer) -> None:
        if moved.micros <= 0:
            self._problem(f"entry {number} moves {moved.micros} micros")
        for account, micros in ((moved.source, -moved.micros), (moved.target, moved.micros)):
            after = self.balances.get(account, 0) + micros
            if after < 0 and account.startswith(_NEVER_NEGATIVE):
                self._problem(f"entry {number} leaves {account} at {after} micros")
            if after == 0 and account.startswith("claim:"):
                self.balances.pop(account, None)
            else:
                self.balances[account] = after

    def _check_wagers(
        self, number: int, fields: Mapping[str, bytes], transfers: tuple[Transfer, ...]
    ) -> None:
        """Hold the increments against the wagers and the rates (duties D6, D19)."""
        event = _WAGERS.decode(fields["event"])
        table = fields["table"].decode()
        offers = self._offers(transfers)
        if any(one.source != f"table:{table}" for one in transfers):
            self._problem(f"entry {number} of table {table} moves another's contributions")
        due: dict[str, int] = {}
        for position in event.positions:
            for wager, cents in position.wagers.items():
                if wager not in offers:
                    self._problem(f"entry {number} has a wager {wager} that fed no meter")
                    continue
                meter, terms = offers[wager]
                for account, bps in (
                    (meter_account(meter), terms.primary_bps),
                    (reserve_account(meter), terms.reserve_bps),
                ):
                    due[account] = due.get(account, 0) + cents * bps
        moved = {one.target: one.micros for one in transfers}
        if moved != {account: micros for account, micros in due.items() if micros}:
            self._problem(f"entry {number} moves {moved}, where the rates make it {due}")
        self._open[table] = event
        self._count(event, 1)
        self.totals.contributions_micros += sum(moved.values())

    def _offers(self, transfers: Sequence[Transfer]) -> Mapping[str, tuple[str, TermsText]]:
        """What each wager feeds, by the meters that an entry moved to and their terms then.

        Not by what its table offers today: a table may have gone from the floor since, and a
        parameter may have changed.
        """
        fed = {one.target for one in transfers}
        return {
            wager.value: (meter, terms)
            for meter, terms in self._terms.items()
            if meter_account(meter) in fed
            for wager, kind in METER_OF.items()
            if kind.value == terms.kind
        }

    def _count(self, event: Wagers, sign: int) -> None:
        for position in event.positions:
            self.totals.wagers += sign * len(position.wagers)
            self.totals.wagered_cents += sign * sum(position.wagers.values())

    def _check_result(
        self, number: int, fields: Mapping[str, bytes], transfers: tuple[Transfer, ...]
    ) -> None:
        """Hold what moved to winners against what the table was told to pay."""
        lines = _REPLY.decode(fields["reply"]).lines or ()
        told_cents = sum(line.paid for line in lines)
        moved = sum(
            one.micros for one in transfers if one.target == PAID or one.target.startswith("claim:")
        )
        if moved != told_cents * MICROS_PER_CENT:
            self._problem(
                f"entry {number} moves {moved} micros to winners, its lines {told_cents} cents"
            )
        self._open.pop(fields["table"].decode(), None)
        self.totals.rounds += 1
        self.totals.wins += sum(1 for line in lines if line.paid)
        self.totals.won_cents += told_cents

    def _note_void(self, fields: Mapping[str, bytes]) -> None:
        event = self._open.pop(fields["table"].decode(), None)
        self.totals.voids += 1
        if event is not None:
            self._count(event, -1)
            self.totals.contributions_micros -= sum(
                one.micros for one in _TRANSFERS.decode(fields["transfers"])
            )


def _seeded(transfers: Sequence[Transfer]) -> str:
    """The meter that a seed filled.

    Raises:
        ValueError: it filled none.
    """
    (target,) = (one.target for one in transfers)
    meter = target.removeprefix(meter_account(""))
    if meter == target:
        raise ValueError(f"a seed went to {target}")
    return meter


def _signed(one: Mapping[str, int], other: Mapping[str, int], account: str) -> str:
    return f"{one.get(account, 0) - other.get(account, 0):+d}"
