from enum import StrEnum
from typing import Annotated

import typer


class LogForm(StrEnum):
    JSON = "json"
    TEXT = "text"


class LogLevel(StrEnum):
    """`deploy/docs/reference/logs.md` explains the levels."""

    DEBUG = "debug"
    INFO = "info"
    WARNING = "warning"
    ERROR = "error"


LogOption = Annotated[
    LogForm | None,
    typer.Option(
        "--log",
        envvar="PITLINK_LOG",
        show_default=False,
        help="Form of the log: one JSON object per line, or text for people. The default is"
        " text on a terminal, and JSON elsewhere.",
    ),
]
LogLevelOption = Annotated[
    LogLevel,
    typer.Option(
        "--log-level",
        envvar="PITLINK_LOG_LEVEL",
        help="Lowest level that is logged. Level debug logs each event of each table.",
    ),
]
