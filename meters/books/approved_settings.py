from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from types import MappingProxyType
from typing import Final

import msgspec


class MeterNames(msgspec.Struct, frozen=True):
    """The names of the wagers that feed a meter, and of the items that the meter pays.

    Items are the wagers, and the bonuses that are paid with them. Both are empty if the meter has
    only the names of the chapters.
    """

    wagers: tuple[str, ...] = ()
    items: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ApprovedSettings:
    """The settings of an approved floor file that a replay needs.

    Two people must reject a win above `two_people_reject_above_cents`, if the floor file sets it.
    `names` has only the meters that games of the house feed.
    """

    two_people_reject_above_cents: int | None = None
    names: Mapping[str, MeterNames] = field(default_factory=dict)


class _Approval(msgspec.Struct, frozen=True):
    text: str


class _Facility(msgspec.Struct, frozen=True):
    two_people_reject_above: int | None = None


class _Text(msgspec.Struct, frozen=True):
    facility: _Facility
    meters: dict[str, MeterNames]


NOTHING_APPROVED: Final = ApprovedSettings()


@lru_cache(maxsize=16)
def approved_settings(event: bytes | str) -> ApprovedSettings:
    """Read the settings from the ledger entry of an approval; none if the event is not one."""
    try:
        approval = msgspec.json.decode(event, type=_Approval)
        text = msgspec.json.decode(approval.text, type=_Text)
    except msgspec.DecodeError:
        return NOTHING_APPROVED
    names = {meter: named for meter, named in text.meters.items() if named.wagers}
    return ApprovedSettings(text.facility.two_people_reject_above, MappingProxyType(names))
