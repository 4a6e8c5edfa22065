"""The log of a process: one line for each event (`deploy/docs/reference/logs.md`)."""

import contextlib
import logging
import sys
import time
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from enum import StrEnum
from types import TracebackType
from typing import Annotated, Final, TextIO, cast

import structlog
import typer
from structlog.typing import EventDict, Processor, WrappedLogger

from meters.process.printing import escape_lines

log = structlog.get_logger()


class LogForm(StrEnum):
    JSON = "json"
    TEXT = "text"


class LogLevel(StrEnum):
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

_FIRST: Final = ("timestamp", "level", "event")


def log_to(file: TextIO, form: LogForm | None = None, level: LogLevel = LogLevel.INFO) -> None:
    """Write the log of this process to a file, with the warnings of Python libraries.

    If writing fails, the process continues. Without `form`, a terminal gets text, and any other
    file gets JSON. Libraries log from level warning up, because one of them logs two lines for each
    message.
    """
    terminal = file.isatty()
    if form is None:
        form = LogForm.TEXT if terminal else LogForm.JSON
    least = logging.getLevelNamesMapping()[level.upper()]
    lines = cast("TextIO", LogFile(file))
    common: list[Processor] = [
        structlog.contextvars.merge_contextvars,
        structlog.processors.add_log_level,
        structlog.processors.TimeStamper(fmt="iso", utc=True),
    ]
    last = _rendering(form, colors=terminal)
    structlog.configure(
        processors=[*common, *last],
        wrapper_class=structlog.make_filtering_bound_logger(least),
        logger_factory=structlog.WriteLoggerFactory(lines),
        cache_logger_on_first_use=True,
    )
    handler = logging.StreamHandler(lines)
    meta = structlog.stdlib.ProcessorFormatter.remove_processors_meta
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=[*common, _of_library], processors=[meta, *last]
        )
    )
    logging.basicConfig(handlers=[handler], level=max(least, logging.WARNING), force=True)
    logging.captureWarnings(capture=True)


def log_to_stderr(form: LogForm | None, level: LogLevel) -> None:
    """Log to standard error as `log_to` does; also log a defect that ends the process."""
    log_to(sys.stderr, form, level)
    sys.excepthook = _log_failure


def _rendering(form: LogForm, *, colors: bool) -> list[Processor]:
    """Return the last processors of a log line, which write it as JSON or as text.

    Tracebacks do not show values of variables.
    """
    if form is LogForm.JSON:
        return [
            structlog.processors.format_exc_info,
            _in_order,
            structlog.processors.JSONRenderer(),
        ]
    # Texts are printed in quotes and escaped, so no text can control the terminal.
    plain = structlog.dev.plain_traceback
    return [
        structlog.processors.format_exc_info,
        _escaped_traceback,
        structlog.dev.ConsoleRenderer(
            colors=colors, repr_native_str=True, exception_formatter=plain
        ),
    ]


def _escaped_traceback(_logger: WrappedLogger, _method: str, fields: EventDict) -> EventDict:
    """Escape a traceback, which can contain stored text with control characters."""
    traceback = fields.get("exception")
    return fields if traceback is None else {**fields, "exception": escape_lines(traceback)}


def _in_order(_logger: WrappedLogger, _method: str, fields: EventDict) -> EventDict:
    return {**{name: fields[name] for name in _FIRST}, **fields}


def _of_library(_logger: WrappedLogger, _method: str, fields: EventDict) -> EventDict:
    """Move a library's message to the field `message`: `event` is only for pitlink's events."""
    record: logging.LogRecord = fields["_record"]
    return {**fields, "event": "library", "logger": record.name, "message": fields["event"]}


def _log_failure(
    kind: type[BaseException], error: BaseException, trace: TracebackType | None
) -> None:
    log.error("process failed", exc_info=(kind, error, trace))


class LogFile:
    """A text file for log lines, which drops them if the disk is full or a pipe is closed."""

    def __init__(self, file: TextIO) -> None:
        self._file: Final = file

    def write(self, text: str) -> int:
        with contextlib.suppress(OSError, ValueError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        with contextlib.suppress(OSError, ValueError):
            self._file.flush()


_EVERY_S: Final = 60.0
_AT_ONCE: Final = 5
_KINDS_MAX: Final = 1_024


@dataclass(slots=True)
class _Logged:
    since_s: float
    times: int = 0
    kept_back: int = 0


class ThrottledLog:
    """Limit on repeated warnings: in each minute, only the first few of each kind are logged.

    So a table that sends thousands of events a second cannot fill the disk. The metrics count every
    event. The clock must be monotonic.
    """

    def __init__(self, clock_s: Callable[[], float] = time.monotonic) -> None:
        self._clock_s = clock_s
        self._logged: dict[Hashable, _Logged] = {}

    def due(self, kind: Hashable) -> int | None:
        """Return how many warnings were left out before this one; None if this one is left out."""
        now_s = self._clock_s()
        logged = self._logged.get(kind)
        if logged is None or now_s - logged.since_s >= _EVERY_S:
            if logged is None and len(self._logged) >= _KINDS_MAX:
                del self._logged[next(iter(self._logged))]
            kept_back = logged.kept_back if logged else 0
            self._logged.pop(kind, None)
            self._logged[kind] = _Logged(now_s, 1)
            return kept_back
        if logged.times < _AT_ONCE:
            logged.times += 1
            return 0
        logged.kept_back += 1
        return None
