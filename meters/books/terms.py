"""A link's money terms as text and digest, so that a changed parameter cannot go unseen (D12)."""

import hashlib
from dataclasses import dataclass
from functools import cached_property

import msgspec

from bonus.settling.holdings import MICROS_PER_CENT
from meters.wire.floor import Link, Meter


class TermsText(msgspec.Struct, frozen=True):
    """What of a meter may not change while its link operates; cents and basis points."""

    kind: str
    wager_cents: int
    paytable: str | None
    seed_cents: int
    reseed_cents: int
    primary_bps: int
    reserve_bps: int


def terms_text(meter: Meter) -> str:
    """A meter's terms, always written the same way."""
    terms = meter.terms
    return msgspec.json.encode(
        TermsText(
            kind=terms.kind,
            wager_cents=terms.wager_cents,
            paytable=terms.paytable,
            seed_cents=terms.seed_cents,
            reseed_cents=terms.reseed_cents,
            primary_bps=terms.primary_bps,
            reserve_bps=terms.reserve_bps,
        )
    ).decode()


@dataclass(frozen=True)
class LinkTerms:
    """The terms of all meters of a link."""

    link: Link

    @cached_property
    def digest(self) -> str:
        """A digest of all terms, by which every script knows that it works under the same ones."""
        texts = sorted(f"{meter.meter_id}={terms_text(meter)}" for meter in self.link.meter)
        return hashlib.sha256("\n".join(texts).encode()).hexdigest()[:32]

    @cached_property
    def opening(self) -> tuple[str, ...]:
        """Three texts a meter: its id, its terms, its seed in micros."""
        return tuple(
            text
            for meter in self.link.meter
            for text in (
                meter.meter_id,
                terms_text(meter),
                str(meter.terms.seed_cents * MICROS_PER_CENT),
            )
        )
