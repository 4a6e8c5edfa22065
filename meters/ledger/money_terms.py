"""The terms of a link's meters as text and digest, which show every change of a term (duty D12)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final, Literal

import msgspec

from bonus.law.meter_terms import MeterPool
from bonus.odds.must_hit_by_odds import Distribution
from bonus.wagers import MICROS_PER_CENT
from meters.floor.floor_file import Link, Meter, MeterSettings


class TermsText(msgspec.Struct, frozen=True, omit_defaults=True):
    """The terms of a meter, such as rates. The terms must not change while the link operates.

    Amounts are in cents, and rates in basis points. The terms include values from the chapter of
    the law, so the service notices if a release has another edition of the chapter.

    Attributes:
        kind: the kind of the meter in the rules of its game.
        wager_cents: the amount of each wager on the meter.
        paytable: the paytable of the meter; null if the rules have only one.
        seed_cents: the first balance.
        reseed_cents: what the house adds after the whole meter was won.
        primary_bps: what a wager adds to the meter.
        reserve_bps: what a wager adds to the reserve.
        magic_card_every: the average number of rounds for one draw of a Magic Card; 0 for none.
        lucky_every: the average number of rounds for one draw of a Lucky Bonus; 0 for none.
        limit_cents: the payout limit; 0 for none.
        contribution_max_cents: the most that one event may add to meter and reserve together; 0 for
            no limit.
        maximum_cents: the amount by which a must-hit-by meter is won; 0 for every other meter.
        distribution: how the hidden values of a must-hit-by meter are drawn.
        wagers: the wagers that feed a must-hit-by meter; empty for every other meter.
        rule: the section about a must-hit-by meter; empty for every other meter.
        threshold_cents: the balance from which wagers have the other two rates; 0 if the rates do
            not change.
        primary_above_bps: what a wager adds to the meter from that balance.
        reserve_above_bps: what a wager adds to the reserve from that balance.
        overflow_to: the meter that gets what is above the payout limit; empty if it waits in the
            meter's own overflow.
        smaller_wagers: the smaller amounts that a wager on the meter can also have; they win a
            proportional part of each percentage. Empty if all wagers have one amount.
    """

    kind: str
    wager_cents: int
    paytable: str | None
    seed_cents: int
    reseed_cents: int
    primary_bps: int
    reserve_bps: int
    magic_card_every: int
    lucky_every: int
    limit_cents: int
    contribution_max_cents: int
    maximum_cents: int = 0
    distribution: Distribution = "uniform"
    wagers: tuple[str, ...] = ()
    rule: str = ""
    threshold_cents: int = 0
    primary_above_bps: int = 0
    reserve_above_bps: int = 0
    overflow_to: str = ""
    smaller_wagers: tuple[int, ...] = ()

    def takes(self, wagered_cents: int) -> bool:
        """Check if a wager on the meter can have an amount."""
        allowed = (self.wager_cents, *self.smaller_wagers)
        return wagered_cents in allowed or self.must_hit_by

    @property
    def must_hit_by(self) -> bool:
        return self.maximum_cents > 0

    @property
    def has_reserve(self) -> bool:
        return self.reserve_bps > 0 or self.reserve_above_bps > 0

    def rates_bps(self, meter_micros: int) -> tuple[int, int]:
        """Return the rates of wagers for the meter and for its reserve.

        `meter_micros` is the balance of the meter before the event with the wagers.
        """
        if self.threshold_cents and meter_micros >= self.threshold_cents * MICROS_PER_CENT:
            return self.primary_above_bps, self.reserve_above_bps
        return self.primary_bps, self.reserve_bps


Parameter = Literal[
    "wager", "paytable", "magic_card_every", "lucky_every", "limit", "contribution_max"
]
"""The settings of a meter that two people can change by proposal."""

_TERMS: Final = msgspec.json.Decoder(TermsText)


def terms_text(meter: Meter) -> str:
    """Return the terms of a meter in the floor file; the same terms always give the same text."""
    return terms_as_text(terms_with_pool(meter, meter.terms.pool))


def terms_with_pool(settings: MeterSettings, pool: MeterPool) -> TermsText:
    """Return the terms of a meter from its settings, and from the part that its games set."""
    seed_cents, reseed_cents, primary_bps, reserve_bps, threshold_cents, *above_bps = pool
    hit_by = settings.must_hit_by
    return TermsText(
        kind=settings.kind,
        wager_cents=settings.wager,
        paytable=settings.paytable,
        seed_cents=seed_cents,
        reseed_cents=reseed_cents,
        primary_bps=primary_bps,
        reserve_bps=reserve_bps,
        magic_card_every=settings.magic_card_every,
        lucky_every=settings.lucky_every,
        limit_cents=settings.limit or 0,
        contribution_max_cents=settings.contribution_max or 0,
        maximum_cents=hit_by.maximum if hit_by else 0,
        distribution=hit_by.distribution if hit_by else "uniform",
        wagers=hit_by.wagers if hit_by else (),
        rule=hit_by.rule if hit_by else "",
        threshold_cents=threshold_cents,
        primary_above_bps=above_bps[0],
        reserve_above_bps=above_bps[1],
        overflow_to=settings.overflow_to or "",
        smaller_wagers=settings.smaller_wagers,
    )


def terms_as_text(terms: TermsText) -> str:
    """Return the terms of a meter in the form in which Redis and the ledger have them."""
    return msgspec.json.encode(terms).decode()


def read_terms(text: str | bytes) -> TermsText:
    return _TERMS.decode(text)


def terms_digest(texts: Mapping[str, str]) -> str:
    """Return one digest over the terms of all meters of a link, from their texts by meter id."""
    lines = sorted(f"{meter}={text}" for meter, text in texts.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def adopted(approved: Link, stored: Mapping[str, str]) -> Link:
    """Return a link with the terms in force: the floor file's terms with the confirmed changes.

    `stored` are the fields of the link's Redis hash of meters. ``terms:{meter}`` has the terms in
    force. ``file:{meter}`` has those in the floor file when a service last started with this link.
    """
    return msgspec.structs.replace(
        approved, meter=tuple(_in_force(meter, stored) for meter in approved.meter)
    )


def _in_force(meter: Meter, stored: Mapping[str, str]) -> Meter:
    held, filed = stored.get(f"terms:{meter.meter_id}"), terms_text(meter)
    if held is None or held == filed or stored.get(f"file:{meter.meter_id}") != filed:
        return meter
    terms = read_terms(held)
    return msgspec.structs.replace(
        meter,
        wager=terms.wager_cents,
        paytable=terms.paytable,
        magic_card_every=terms.magic_card_every,
        lucky_every=terms.lucky_every,
        limit=terms.limit_cents or None,
        contribution_max=terms.contribution_max_cents or None,
    )


@dataclass(frozen=True)
class LinkTerms:
    link: Link

    @cached_property
    def digest(self) -> str:
        """The digest over all terms. If Redis has another digest, a Lua script changes nothing."""
        return terms_digest({meter.meter_id: terms_text(meter) for meter in self.link.meter})
