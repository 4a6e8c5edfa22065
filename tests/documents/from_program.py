"""Parts of the documents that the program states: commands, settings, metrics, odds, JSON.

Such a part of a page lies between the comments ``<!-- from the program: NAME -->`` and
``<!-- end -->``. The test of the page writes it anew, and a column that the tests state likewise.
"""

import inspect
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Final

import msgspec
import typer.main
from msgspec.inspect import Type
from prometheus_client import CollectorRegistry, Metric
from typer.core import TyperCommand, TyperGroup

from bonus.hands.rankings import RANKINGS
from bonus.law.chapter_file import Chapter
from controllers.agent.agent_metrics import AgentMetrics
from meters.cli.main import command_line
from meters.floor.floor_file import FloorSettings, read_floor
from meters.floor.themes import ThemeFile
from meters.reports.accounting_rows import WIN_CELLS, sheet_names
from meters.reports.flows import Flow
from meters.reports.win_book import Win
from meters.service.metric_declarations import DECLARED
from meters.service.service_metrics import Metrics
from meters.web.described_types import about, field_texts
from tests.documents.columns import COLUMN, with_columns
from tests.documents.example_games import example_games
from tests.documents.house_edges import house_edges, progressive_edges
from tests.documents.http_reference import api_document, http_reference
from tests.documents.json_schemas import SCHEMAS, json_reference
from tests.documents.json_tables import table
from tests.documents.ledger_entries import ledger_accounts, ledger_kinds
from tests.documents.report_figures import report_figures
from tests.logs.calls import log_events
from tests.test_tree import ROOT

DOCS: Final = ROOT / "deploy" / "docs"

_PART: Final = re.compile(
    r"(?P<head><!-- from the program: (?P<name>[a-z-]+) -->\n).*?(?P<tail><!-- end -->)", re.DOTALL
)


def pages() -> list[Path]:
    """Return the pages with a part or a column from the program."""
    return [
        page
        for page in sorted(DOCS.rglob("*.md"))
        if any(kind.search(page.read_text()) for kind in (_PART, COLUMN))
    ]


def with_parts(page: str) -> str:
    """Return a page with the parts and columns that the program states now."""
    return _PART.sub(
        lambda found: f"{found['head']}\n{PARTS[found['name']]().strip()}\n\n{found['tail']}",
        with_columns(page),
    )


def all_commands() -> Iterator[tuple[str, TyperCommand | TyperGroup]]:
    """Yield each command and group, with its full name."""
    return _every_command("pitlink", typer.main.get_command(command_line([])))


def _commands() -> str:
    """Return a section for each command, from its help."""
    return "\n\n".join(_command(name, one) for name, one in all_commands() if name != "pitlink")


def _every_command(name: str, command: object) -> Iterator[tuple[str, TyperCommand | TyperGroup]]:
    if isinstance(command, TyperCommand | TyperGroup):
        yield name, command
    if isinstance(command, TyperGroup):
        for part, below in sorted(command.commands.items()):
            yield from _every_command(f"{name} {part}", below)


def _command(name: str, command: TyperCommand | TyperGroup) -> str:
    context = typer.Context(command, info_name=name)
    usage = " ".join(command.get_usage(context).split()).removeprefix("Usage: ")
    records = filter(None, (one.get_help_record(context) for one in command.get_params(context)))
    options = [
        (f"`{term}`", " ".join(meaning.split()))
        for term, meaning in records
        if not term.endswith("--help")
    ]
    parts = [f"## {name}", inspect.cleandoc(command.help or "")]
    if isinstance(command, TyperCommand):
        parts.append(f"```\n{usage}\n```")
    return "\n\n".join([*parts, *([table(("option", "meaning"), options)] if options else [])])


def _keys(struct: type[msgspec.Struct], *, about_sections: bool = False) -> str:
    """Return the keys of a TOML file: a table for each of its sections, from their types."""
    return "\n\n".join(_sections(struct, "", "", {}, about_sections=about_sections))


def _sections(
    struct: type[msgspec.Struct],
    name: str,
    heading: str,
    known: dict[type[msgspec.Struct], str],
    *,
    about_sections: bool,
    required: bool = False,
) -> Iterator[str]:
    """Yield the parts of a section and of those below it.

    A section with the keys of a `known` one, which has a heading, is only a row.
    """
    if heading:
        yield f"### `{heading}`"
    if heading and about_sections:
        yield f"{'Required. ' * required}{about(struct.__doc__)}"
    described = msgspec.inspect.type_info(struct)
    assert isinstance(described, msgspec.inspect.StructType)
    texts = field_texts(struct.__doc__)
    rows: list[tuple[str, ...]] = []
    below: list[Iterator[str]] = []
    for field in described.fields:
        kind, in_list = _single(field.type)
        default = "required" if field.required else _value_text(field.default)
        if not isinstance(kind, msgspec.inspect.StructType):
            named = field.encode_name
            rows.append((f"`{named}`", _type_text(field.type), default, texts[named]))
        elif same := known.get(kind.cls):
            as_there = f"as [`{same}`](#{re.sub('[^a-z_]', '', same)})"
            rows.append((f"`{field.name}`", as_there, default, texts.get(field.name, "")))
        else:
            inner = f"{name}.{field.name}".lstrip(".")
            known[kind.cls] = f"[[{inner}]]" if in_list else f"[{inner}]"
            below.append(
                _sections(
                    kind.cls,
                    inner,
                    known[kind.cls],
                    known,
                    about_sections=about_sections,
                    required=field.required,
                )
            )
    if rows:
        yield table(("key", "value", "default", "meaning"), rows)
    for sections in below:
        yield from sections


def _single(kind: Type) -> tuple[Type, bool]:
    """Return the type of a value or of the elements of a list, and whether it is a list."""
    match kind:
        case msgspec.inspect.Metadata(type=inner):
            return _single(inner)
        case msgspec.inspect.VarTupleType(item_type=inner):
            return _single(inner)[0], True
        case msgspec.inspect.DictType(value_type=msgspec.inspect.StructType() as inner):
            return inner, False
        case msgspec.inspect.UnionType(types=(inner, msgspec.inspect.NoneType())):
            return _single(inner)
        case _:
            return kind, False


def _rankings() -> str:
    """Return the hands of each ranking, and the numbers of cards that it can judge."""
    rows = [
        (f"`{name}`", _numbers(sorted(one.cards)), ", ".join(f"`{hand}`" for hand in one.names))
        for name, one in RANKINGS.items()
    ]
    return table(("ranking", "cards", "hands, the highest first"), rows)


def _numbers(cards: Sequence[int]) -> str:
    return f"{cards[0]} to {cards[-1]}" if len(cards) > 2 else " or ".join(map(str, cards))


def _type_text(kind: Type) -> str:  # noqa: PLR0911
    """Return a type in words, such as ``1 to 60``."""
    match kind:
        case msgspec.inspect.Metadata(extra_json_schema={"description": text}):
            return str(text)
        case msgspec.inspect.UnionType(types=kinds):
            others = (one for one in kinds if not isinstance(one, msgspec.inspect.NoneType))
            return " or ".join(map(_type_text, others))
        case msgspec.inspect.LiteralType(values=values):
            return ", ".join(map(_value_text, values))
        case msgspec.inspect.VarTupleType(item_type=inner):
            return f"list of: {_type_text(inner)}"
        case msgspec.inspect.DictType():
            return "table"
        case msgspec.inspect.BoolType():
            return "true or false"
        case msgspec.inspect.IntType(ge=least, le=most):
            return "whole number" if most is None else f"{least:,} to {most:,}"
        case msgspec.inspect.StrType(max_length=most):
            return "text" if most is None else f"text, at most {most:,} characters"
        case _:
            raise TypeError(kind)


def _value_text(value: object) -> str:
    match value:
        case None | () | "" | msgspec.NODEFAULT:
            return "none"
        case bool():
            return f"`{str(value).lower()}`"
        case int():
            return f"`{value:_}`"
        case tuple():
            return f"`[{', '.join(map(_value_text, value)).replace('`', '')}]`"
        case _:
            return f'`"{value}"`'


def _service_metrics() -> str:
    metrics = Metrics(read_floor(ROOT / "deploy" / "floor.toml"))
    return _metrics(metrics.registry, "pitlink_")


def _metrics(registry: CollectorRegistry, prefix: str) -> str:
    found = (one for one in registry.collect() if one.name.startswith(prefix))
    return table(("name", "labels", "unit", "meaning"), map(_metric_row, found))


def _metric_row(metric: Metric) -> tuple[str, ...]:
    name = f"{metric.name}{_ENDINGS.get(metric.type, '')}"
    labels = _LABELS.get(metric.name, getattr(metric, "_labelnames", None))
    if labels is None:
        labels = metric.samples[0].labels
    unit = _unit(metric) + " (histogram)" * (metric.type == "histogram")
    return f"`{name}`", ", ".join(f"`{label}`" for label in labels), unit, metric.documentation


def _unit(metric: Metric) -> str:
    if metric.type == "info":
        return "1"
    if re.match(r"[01] (while|if) ", metric.documentation):
        return "1 or 0"
    return next((unit for end, unit in _UNITS.items() if metric.name.endswith(end)), "count")


def _report_flows() -> str:
    return table(
        ("flow", "in the printed report"), ((f"`{flow.value}`", flow.words) for flow in Flow)
    )


def _report_wins() -> str:
    rows = (
        (", ".join(f"`{name}`" for name in sheet_names(column)), f"`{column}`", _of_win(column))
        for column in WIN_CELLS
    )
    others = ("envy_of", "hand_of", "hand_table", "hand_round")
    only_in_json = (("", f"`{name}`", _of_win(name)) for name in others)
    return table(("column in CSV", "name in JSON", "meaning"), [*rows, *only_in_json])


def _of_win(column: str) -> str:
    """Return what the program says of a column: in the text of its field, or of its property."""
    described = getattr(Win, column)
    if isinstance(described, property):
        return (inspect.getdoc(described) or "").partition("\n\n")[0]
    return field_texts(Win.__doc__).get(column, "")


def _log_events() -> str:
    rows = ((f"`{event}`", *cells) for event, *cells in log_events())
    return table(("event", "level", "from", "fields"), rows)


_LABELS: Final = {f"pitlink_{one.name}": one.labels for one in DECLARED}
_ENDINGS: Final = {"counter": "_total", "info": "_info"}
_UNITS: Final = {
    "_timestamp_seconds": "epoch seconds",
    "_start_time_seconds": "epoch seconds",
    "_seconds": "seconds",
    "_cents": "cents",
    "_bytes": "bytes",
}
PARTS: Final[Mapping[str, Callable[[], str]]] = {
    "commands": _commands,
    "floor-file": lambda: _keys(FloorSettings),
    "game-file": lambda: _keys(Chapter, about_sections=True),
    "rankings": _rankings,
    "house-edges": house_edges,
    "progressive-edges": progressive_edges,
    "example-games": example_games,
    "theme-file": lambda: _keys(ThemeFile),
    "http": lambda: http_reference(api_document()),
    **{
        f"json-{name}": partial(json_reference, name)
        for name in SCHEMAS
        if not name.endswith("-file")
    },
    "ledger-accounts": ledger_accounts,
    "ledger-kinds": ledger_kinds,
    "service-metrics": _service_metrics,
    "agent-metrics": lambda: _metrics(AgentMetrics()._registry, "pitlink_"),
    "report-figures": report_figures,
    "report-flows": _report_flows,
    "report-wins": _report_wins,
    "log-events": _log_events,
    "process-metrics": lambda: _metrics(AgentMetrics()._registry, "process_"),
}
