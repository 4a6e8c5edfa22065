"""A link's money terms as text and digest, so no change of a parameter goes unnoticed (D12)."""

import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Final

import msgspec

from meters.floor.floor_file import Link, Meter


class TermsText(msgspec.Struct, frozen=True):
    """The terms of a meter that may not change while its link operates; cents and basis points.

    Values that follow from the chapter are included too, so another edition of the chapter cannot
    come into force unnoticed.
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


_TERMS: Final = msgspec.json.Decoder(TermsText)


def terms_text(meter: Meter) -> str:
    """Return a meter's terms as text, always written in the same way."""
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
            magic_card_every=meter.magic_card_every,
            lucky_every=meter.lucky_every,
            limit_cents=meter.limit or 0,
            contribution_max_cents=meter.contribution_max or 0,
        )
    ).decode()


def terms_as_text(terms: TermsText) -> str:
    """Return terms as the store and the ledger have them."""
    return msgspec.json.encode(terms).decode()


def read_terms(text: str | bytes) -> TermsText:
    """Read terms.

    Raises:
        msgspec.DecodeError: the text is not a meter's terms.
    """
    return _TERMS.decode(text)


def terms_digest(texts: Mapping[str, str]) -> str:
    """Return a digest of the terms of all meters of a link, by the meters' ids."""
    lines = sorted(f"{meter}={text}" for meter, text in texts.items())
    return hashlib.sha256("\n".join(lines).encode()).hexdigest()[:32]


def adopted(approved: Link, stored: Mapping[str, str]) -> Link:
    """Return the link with the parameters that a proposal changed since the floor file was read.

    Args:
        approved: the link as the floor file has it.
        stored: the books' fields of its meters: ``terms:{meter}``, the terms in force, and
            ``file:{meter}``, the terms in the floor file when the link was last opened.
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
    """The terms of all meters of a link."""

    link: Link

    @cached_property
    def digest(self) -> str:
        """A digest of all terms, by which each script checks that it works under the same terms."""
        return terms_digest({meter.meter_id: terms_text(meter) for meter in self.link.meter})
