"""Log of a process, with its libraries: one line an event (`deploy/docs/reference/logs.md`)."""

import contextlib
import logging
import sys
from types import TracebackType
from typing import Final, TextIO, cast

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from meters.logs.options import LogForm, LogLevel
from meters.terminal.printing import escape_lines

log = structlog.get_logger()

_LEVELS: Final = {
    LogLevel.DEBUG: logging.DEBUG,
    LogLevel.INFO: logging.INFO,
    LogLevel.WARNING: logging.WARNING,
    LogLevel.ERROR: logging.ERROR,
}
_FIRST: Final = ("timestamp", "level", "event")


def log_to(file: TextIO, form: LogForm | None = None, level: LogLevel = LogLevel.INFO) -> None:
    """Log to a file whatever this process has to tell, the libraries' warnings included.

    Args:
        file: where the lines go; one that cannot be written stops nothing.
        form: what they look like; text on a terminal, else JSON, unless given.
        level: what is told: this and whatever is graver. Of the libraries' own talk nothing below
            a warning is, since one of them has two lines for each message.
    """
    terminal = file.isatty()
    if form is None:
        form = LogForm.TEXT if terminal else LogForm.JSON
    least, lines = _LEVELS[level], cast("TextIO", LogFile(file))
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
    """Log to standard error, as `log_to` does; a defect that ends the process is told there too."""
    log_to(sys.stderr, form, level)
    sys.excepthook = _tell_end


def _rendering(form: LogForm, *, colors: bool) -> list[Processor]:
    """What makes a line of an event. Tracebacks are plain: none shows what a variable holds."""
    if form is LogForm.JSON:
        return [
            structlog.processors.format_exc_info,
            _in_order,
            structlog.processors.JSONRenderer(),
        ]
    # Texts are quoted, so that nobody's message can write to the terminal what it likes.
    plain = structlog.dev.plain_traceback
    return [
        structlog.processors.format_exc_info,
        _escaped_traceback,
        structlog.dev.ConsoleRenderer(
            colors=colors, repr_native_str=True, exception_formatter=plain
        ),
    ]


def _escaped_traceback(_logger: WrappedLogger, _method: str, fields: EventDict) -> EventDict:
    """A traceback whose message, which may quote stored text, cannot write to the terminal."""
    traceback = fields.get("exception")
    return fields if traceback is None else {**fields, "exception": escape_lines(traceback)}


def _in_order(_logger: WrappedLogger, _method: str, fields: EventDict) -> EventDict:
    """The fields in the order in which people look for them."""
    return {**{name: fields[name] for name in _FIRST}, **fields}


def _of_library(_logger: WrappedLogger, _method: str, fields: EventDict) -> EventDict:
    """A library's words are what it says, not the name of an event of ours."""
    record: logging.LogRecord = fields["_record"]
    return {**fields, "event": "library", "logger": record.name, "message": fields["event"]}


def _tell_end(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    """A defect of ours ends the process."""
    log.error("process failed", exc_info=(kind, error, trace))


class LogFile:
    """A text file for log lines; what a full disk or a closed pipe refuses is dropped."""

    def __init__(self, file: TextIO) -> None:
        self._file: Final = file

    def write(self, text: str) -> int:
        """Write, if it can be written."""
        with contextlib.suppress(OSError, ValueError):
            self._file.write(text)
        return len(text)

    def flush(self) -> None:
        """Have it written, if it can be."""
        with contextlib.suppress(OSError, ValueError):
            self._file.flush()
