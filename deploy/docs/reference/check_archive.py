"""Check archived gaming days of one link without pitlink, as archive.md describes the files.

    python3 check_archive.py [--entry NUMBER] ARCHIVE/LINK/*.jsonl.zst

Needs Python 3.10 or newer and the program zstd. Give all files of the link, or the later ones. The
exit status is 1 if a file is not as it was written. `--entry` also prints the seal up to this
entry of the ledger, to compare it with a seal that was kept.
"""

import argparse
import hashlib
import json
import subprocess
import sys
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

SHORT = ("kind", "at", "by", "table", "round", "seq", "transfers")
TEXTS = ("event", "reply")


class NotAsWrittenError(Exception):
    """A file is not as pitlink wrote it."""


@dataclass
class Checked:
    """What the files so far say.

    Attributes:
        digest: the digest of the last file; empty before the first file.
        closing: the third line of the last file.
        files: the digest of each file, and that of its third line, by gaming day.
        noted: the same two digests, as the ledger's entries of the kind `archive` record them.
        seals: the seal up to the entry of `--entry`.
        committed: the commitment to each must-hit-by meter's hidden value, by meter.
    """

    digest: str = ""
    closing: str = ""
    files: dict[str, tuple[str, str]] = field(default_factory=dict)
    noted: dict[str, tuple[str, str]] = field(default_factory=dict)
    seals: dict[int, str] = field(default_factory=dict)
    committed: dict[str, str] = field(default_factory=dict)


def m(value: object) -> bytes:
    """Return a text after its length in bytes and a colon."""
    data = str(value).encode()
    return b"%d:%s" % (len(data), data)


def sha1(data: bytes) -> str:
    return hashlib.sha1(data).hexdigest()  # noqa: S324


def sha256(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def lines_of(path: Path) -> Iterator[str]:
    with subprocess.Popen(
        ["zstd", "-dc", str(path)], stdout=subprocess.PIPE, encoding="utf-8"
    ) as zstd:
        assert zstd.stdout  # noqa: S101 (a pipe)
        yield from (line.rstrip("\n") for line in zstd.stdout)
    expect(zstd.returncode, 0, "the exit status of zstd")


def expect(found: object, due: object, what: str) -> None:
    if found != due:
        raise NotAsWrittenError(f"{what} is {found}, and should be {due}")


def check_file(path: Path, checked: Checked, wanted: int) -> str:
    """Check one file after the one before it, and return a line about it."""
    lines = lines_of(path)
    head, opening, closing = json.loads(next(lines)), next(lines), next(lines)
    if checked.files:
        expect(head["previous"], checked.digest, "the digest of the day before")
        expect(sha256(opening.encode()), sha256(checked.closing.encode()), "the second line")
    before, after = json.loads(opening), json.loads(closing)
    number, chain, seal = before["entries"], before["chain"], before["seal"]
    expect(head["first"], number + 1, "the number of the first entry")
    balances = Counter(before["books"]["balances"])
    for line in lines:
        entry = json.loads(line)
        number += 1
        expect(entry["number"], number, "the number of an entry")
        short = m(f"{number}-0") + b"".join(m(name) + m(entry[name]) for name in SHORT)
        digests = b"".join(m(name) + m(sha1(entry[name].encode())) for name in TEXTS)
        chain = sha1(chain.encode() + short + digests)
        seal = sha256(seal.encode() + short + b"".join(m(name) + m(entry[name]) for name in TEXTS))
        expect(entry["chain"], chain, f"the chain of entry {number}")
        if number == wanted:
            checked.seals[number] = seal
        note(entry, balances, checked)
    ends = (after["entries"], after["chain"], after["seal"])
    expect(ends, (number, chain, seal), "the end in the third line")
    expect(head["last"], number, "the number of the last entry")
    add_up = {account: micros for account, micros in balances.items() if micros}
    held = {account: micros for account, micros in after["books"]["balances"].items() if micros}
    expect(held, add_up, "the balances in the third line")
    expect(sum(held.values()), 0, "the sum of all accounts")
    expect(head["opening"], sha256(opening.encode()), "the digest of the second line")
    expect(head["closing"], sha256(closing.encode()), "the digest of the third line")
    spans = [head[name] for name in ("previous", "link", "day", "first", "last")]
    digest = sha256(b"".join(map(m, [*spans, opening, closing])))
    expect(head["digest"], digest, "the digest of the file")
    checked.digest, checked.closing = digest, closing
    checked.files[head["day"]] = digest, head["closing"]
    return f"{head['day']}: entries {head['first']} to {number} are as written, seal {seal}"


def note(entry: dict[str, Any], balances: Counter[str], checked: Checked) -> None:
    """Add what an entry moved, what it records of an earlier file, and a hidden value."""
    for source, target, micros, _ in json.loads(entry["transfers"]):
        balances[source] -= micros
        balances[target] += micros
    if entry["kind"] == "archive":
        event = json.loads(entry["event"])
        checked.noted[event["day"]] = event["digest"], event["books"]
    if entry["kind"] == "hidden_value":
        event = json.loads(entry["event"])
        meter, opened = event["meter"], event.get("opened")
        if opened and meter in checked.committed:
            cycle, micros, salt = event["cycle"] - 1, opened["micros"], opened["salt"]
            text = f"pitlink must-hit-by\n{meter}\n{cycle}\n{micros}\n{salt}\n"
            expect(sha256(text.encode()), checked.committed[meter], f"a hidden value of {meter}")
        checked.committed[meter] = event["commitment"]


def main() -> str | None:
    """Check the files; return what is wrong."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--entry", type=int, default=0, metavar="NUMBER")
    parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
    given = parser.parse_args()
    checked = Checked()
    for path in sorted(given.files, key=lambda path: path.name):
        try:
            sys.stdout.write(f"{check_file(path, checked, given.entry)}\n")
        except NotAsWrittenError as error:
            return f"{path}: {error}"
        except (KeyError, TypeError, ValueError, StopIteration) as error:
            return f"{path} cannot be read: {error!r}"
    for day, digests in checked.files.items():
        if checked.noted.get(day, digests) != digests:
            return f"{day}: the ledger records another file"
        if day not in checked.noted:
            sys.stdout.write(f"{day}: these files do not have the ledger's record of its digest\n")
    if given.entry:
        if given.entry not in checked.seals:
            return f"entry {given.entry} is not in these files"
        sys.stdout.write(f"seal up to entry {given.entry}: {checked.seals[given.entry]}\n")
    return None


if __name__ == "__main__":
    sys.exit(main())
