"""Man pages and shell completion of all commands of pitlink, made from their `--help`.

`python describe_commands.py MAN BASH` writes the page of each command into the directory MAN, and
the completion for bash into the directory BASH. The build of the package runs it.
"""

import re
import sys
from collections.abc import Iterable, Iterator
from importlib.metadata import version
from pathlib import Path
from typing import Final

import typer.main
from typer.core import TyperCommand, TyperGroup, TyperOption

from meters.cli.main import command_line

Command = TyperCommand | TyperGroup

_COMPLETE: Final = """\
# Completes the commands and options of pitlink, and names of files.
_pitlink() {
  local word=${COMP_WORDS[COMP_CWORD]} command=pitlink each
  for each in "${COMP_WORDS[@]:1:COMP_CWORD-1}"; do
    case "$command $each" in
%NAMES%) command="$command $each" ;;
    esac
  done
  case $command in
%WORDS%
  esac
}
complete -o bashdefault -o default -F _pitlink pitlink
"""


def list_commands(name: str, command: object) -> Iterator[tuple[str, Command]]:
    """Yield a command and its subcommands, each with its full name."""
    if isinstance(command, TyperCommand | TyperGroup):
        yield name, command
    if isinstance(command, TyperGroup):
        for part, below in sorted(command.commands.items()):
            yield from list_commands(f"{name} {part}", below)


def to_roff(text: str) -> str:
    """Return a text of one line as roff. Emphasized words and code become bold."""
    plain = re.sub(r"^[.']", r"\\&\g<0>", text.replace("\\", "\\e").replace("-", "\\-"))
    return re.sub(r"\*\*(.+?)\*\*|`(.+?)`", lambda it: f"\\fB{it[1] or it[2]}\\fR", plain)


def format_text(text: str) -> Iterator[str]:
    """Yield the lines of a help text as roff: paragraphs, and lists with hyphens."""
    for paragraph in re.split(r"\n\n|\n(?=- )", text.strip()):
        item = paragraph.removeprefix("- ")
        yield ".PP" if item == paragraph else ".IP \\(bu 2"
        yield to_roff(" ".join(item.split()))


def format_entries(heading: str, entries: Iterable[tuple[str, str]]) -> Iterator[str]:
    """Yield a section with an indented text for each of its terms."""
    yield f".SH {heading}"
    for term, text in entries:
        yield f".TP\n\\fB{to_roff(term)}\\fR\n{to_roff(' '.join(text.split()))}"


def format_page(name: str, command: Command) -> str:
    """Return the man page of a command."""
    context = typer.Context(command, info_name=name)
    page = name.replace(" ", "-")
    title, _, text = (command.help or "").strip().partition("\n\n")
    usage = " ".join(command.get_usage(context).split()).removeprefix("Usage: ")
    lines = [
        f'.TH "{page.upper()}" 1 "" "pitlink {version("pitlink")}" "pitlink"',
        f".SH NAME\n{page} \\- {to_roff(' '.join(title.split()).rstrip('.'))}",
        f".SH SYNOPSIS\n{to_roff(usage)}",
    ]
    if text:
        lines += [".SH DESCRIPTION", *format_text(text)]
    records = (param.get_help_record(context) for param in command.get_params(context))
    lines += format_entries("OPTIONS", filter(None, records))
    if isinstance(command, TyperGroup):
        parts = sorted(command.commands.items())
        entries = ((f"{page}-{part}(1)", below.get_short_help_str(200)) for part, below in parts)
        lines += format_entries("COMMANDS", entries)
    if " " in name:
        lines.append(f".SH SEE ALSO\n{to_roff(page.rpartition('-')[0])}(1)")
    return "\n".join(lines) + "\n"


def list_words(command: Command) -> str:
    """Return the subcommands and options that can follow a command."""
    context = typer.Context(command)
    parts = sorted(command.commands) if isinstance(command, TyperGroup) else []
    shown = [
        option
        for option in command.get_params(context)
        if isinstance(option, TyperOption) and not option.hidden
    ]
    options = [word for option in shown for word in (*option.opts, *option.secondary_opts)]
    return " ".join((*parts, *options))


def format_completion(commands: dict[str, Command]) -> str:
    """Return the completion for bash."""
    names = " | ".join(f'"{name}"' for name in commands if " " in name)
    words = "\n".join(
        f'    "{name}") COMPREPLY=($(compgen -W "{list_words(command)}" -- "$word")) ;;'
        for name, command in commands.items()
    )
    return _COMPLETE.replace("%NAMES%", f"      {names}").replace("%WORDS%", words)


def main(pages: Path, completions: Path) -> None:
    """Write all files."""
    commands = dict(list_commands("pitlink", typer.main.get_command(command_line([]))))
    for directory in (pages, completions):
        directory.mkdir(parents=True, exist_ok=True)
    for name, command in commands.items():
        (pages / f"{name.replace(' ', '-')}.1").write_text(format_page(name, command))
    (completions / "pitlink").write_text(format_completion(commands))


if __name__ == "__main__":
    main(*map(Path, sys.argv[1:3]))
