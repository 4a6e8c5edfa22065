"""The MQTT topics of `pitlink/v1`, named in one place."""

import re
from typing import Final, NamedTuple

ROOT: Final = "pitlink/v1"
IDENTIFIER: Final = r"[A-Za-z0-9-]{1,32}"
"""What may name a link or a table in a topic."""

EVERY_TABLE_OUT: Final = f"{ROOT}/+/table/+/out"
EVERY_TABLE_STATUS: Final = f"{ROOT}/+/table/+/status"

_OUT: Final = re.compile(rf"{ROOT}/({IDENTIFIER})/table/({IDENTIFIER})/out")
_STATUS: Final = re.compile(rf"{ROOT}/({IDENTIFIER})/table/({IDENTIFIER})/status")


class TableAddress(NamedTuple):
    """A table as its topic names it."""

    link: str
    table: str


def table_out(link: str, table: str) -> str:
    """Where a table publishes its events."""
    return f"{ROOT}/{link}/table/{table}/out"


def table_in(link: str, table: str) -> str:
    """Where the service publishes the reply to each event of a table."""
    return f"{ROOT}/{link}/table/{table}/in"


def table_status(link: str, table: str) -> str:
    """Where a table's state is retained, with a last will."""
    return f"{ROOT}/{link}/table/{table}/status"


def meter(link: str, meter_id: str) -> str:
    """Where a meter's current value is retained; ``"+"`` for every meter of the link."""
    return f"{ROOT}/{link}/meter/{meter_id}"


def controller(link: str) -> str:
    """Where the controller's state and beat are retained."""
    return f"{ROOT}/{link}/controller"


def jackpot(link: str) -> str:
    """Where hits and what became of them are published."""
    return f"{ROOT}/{link}/jackpot"


def ledger(link: str) -> str:
    """Where the seal over the link's ledger is retained, for whoever keeps it elsewhere."""
    return f"{ROOT}/{link}/ledger"


OPERATORS_LOG: Final = f"{ROOT}/@operators/log"
"""Where the seal over the operators' log is retained, which no link's topic can be."""


def parse_table_out(topic: str) -> TableAddress | None:
    """The table that speaks on a topic, or None where it is not a table's out.

    >>> parse_table_out("pitlink/v1/tcp-main/table/TCP-01/out")
    TableAddress(link='tcp-main', table='TCP-01')
    """
    found = _OUT.fullmatch(topic)
    return TableAddress(*found.groups()) if found else None


def parse_table_status(topic: str) -> TableAddress | None:
    """The table whose status a topic is, or None where it is not one."""
    found = _STATUS.fullmatch(topic)
    return TableAddress(*found.groups()) if found else None
