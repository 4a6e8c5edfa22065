"""MQTT topics of `pitlink/v1`, the public contract. No other module defines a topic."""

import re
from typing import Final, NamedTuple

ROOT: Final = "pitlink/v1"
IDENTIFIER: Final = r"[A-Za-z0-9-]{1,32}"
METER_IDENTIFIER: Final = r"[A-Za-z0-9_-]{1,32}"
"""The id of a meter: usually the kind of the meter, which has underscores."""

EVERY_TABLE_OUT: Final = f"{ROOT}/+/table/+/out"
EVERY_TABLE_STATUS: Final = f"{ROOT}/+/table/+/status"

_OUT: Final = re.compile(rf"{ROOT}/({IDENTIFIER})/table/({IDENTIFIER})/out")


class TableAddress(NamedTuple):
    link: str
    table: str


def table_out(link: str, table: str) -> str:
    """Return the topic on which a table publishes its events."""
    return f"{ROOT}/{link}/table/{table}/out"


def table_in(link: str, table: str) -> str:
    """Return the topic on which the service replies to a table's events."""
    return f"{ROOT}/{link}/table/{table}/in"


def table_status(link: str, table: str) -> str:
    """Return the topic of a table's status. The agent's last will has the same topic."""
    return f"{ROOT}/{link}/table/{table}/status"


def meter(link: str, meter_id: str) -> str:
    """Return the topic of a meter's retained value, or, for ``"+"``, of all meters of the link."""
    return f"{ROOT}/{link}/meter/{meter_id}"


def controller(link: str) -> str:
    """Return the topic on which the broker retains the last heartbeat of a link."""
    return f"{ROOT}/{link}/controller"


def jackpot(link: str) -> str:
    return f"{ROOT}/{link}/jackpot"


def ledger(link: str) -> str:
    """Return the topic on which the broker retains the seal of a link's ledger."""
    return f"{ROOT}/{link}/ledger"


OPERATORS_LOG: Final = f"{ROOT}/@operators/log"
"""The topic on which the broker retains the seal of the operators' log. No link can have it."""


SIZE_PROOF: Final = f"{ROOT}/@size/table/@size/in"
"""The topic on which a service proves that the broker accepts the longest event.

Nobody subscribes to this topic, and no link can have it.
"""


def parse_table_out(topic: str) -> TableAddress | None:
    """Return the table that publishes its events on a topic; None for any other topic.

    >>> parse_table_out("pitlink/v1/tcp-main/table/TCP-01/out")
    TableAddress(link='tcp-main', table='TCP-01')
    """
    found = _OUT.fullmatch(topic)
    return TableAddress(*found.groups()) if found else None
