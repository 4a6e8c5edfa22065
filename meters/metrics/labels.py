"""The labels that there can be: those of the floor file, and one for all strangers."""

from typing import Final, final

from meters.floor.floor_file import Floor

UNKNOWN: Final = "unknown"


@final
class FloorLabels:
    """The links, meters and tables of a floor.

    Attributes:
        links: the links' ids.
        meters: each meter's link and id.
        tables: each table's link and id.
    """

    def __init__(self, floor: Floor) -> None:
        self.links: Final = tuple(link.id for link in floor.link)
        self.meters: Final = tuple(
            (link.id, meter.meter_id) for link in floor.link for meter in link.meter
        )
        self.tables: Final = tuple(
            (link.id, table.id) for link in floor.link for table in link.table
        )
        self._links = frozenset(self.links)

    def link(self, link: str) -> str:
        """The link's label."""
        return link if link in self._links else UNKNOWN
