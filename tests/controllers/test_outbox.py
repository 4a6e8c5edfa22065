"""The outbox on a real disk: what is written stays, whenever a process is killed."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from controllers.agent.outbox import Outbox, OutboxError, SavedTable, Sent
from tests.servers import eventually

STATE, LINE, ANSWER = (
    b'{"phase":"locked"}',
    b'{"event":"lockout"}',
    b'{"event":"lockout","ok":true}',
)


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "tables" / "T-1.sqlite"


def reopened(outbox: Outbox, path: Path) -> Outbox:
    outbox.close()
    return Outbox.open(path, "one", "T-1")


def test_an_event_stays_pending_until_it_is_answered(path: Path) -> None:
    outbox = Outbox.open(path, "one", "T-1")
    assert (outbox.last_seq, outbox.pending, outbox.place) == (0, None, SavedTable())
    outbox.write_event(1, b"first", STATE, LINE)
    outbox = reopened(outbox, path)
    assert (outbox.last_seq, outbox.pending) == (1, Sent(1, b"first", None))
    assert outbox.place == SavedTable(STATE, LINE, None)
    outbox.write_reply(1, b"reply", b"{}", ANSWER)
    outbox = reopened(outbox, path)
    assert (outbox.last_seq, outbox.pending) == (1, None)
    assert outbox.place == SavedTable(b"{}", LINE, ANSWER)
    assert list(outbox.history()) == [Sent(1, b"first", b"reply")]
    outbox.write_place(SavedTable(STATE, LINE, ANSWER))
    outbox = reopened(outbox, path)
    assert outbox.place == SavedTable(STATE, LINE, ANSWER)
    outbox.close()


def test_numbers_are_dense_and_one_event_is_under_way(path: Path) -> None:
    outbox = Outbox.open(path, "one", "T-1")
    for wrong in (0, 2, -1):
        with pytest.raises(ValueError, match="cannot follow"):
            outbox.write_event(wrong, b"x", STATE, LINE)
    outbox.write_event(1, b"first", STATE, LINE)
    with pytest.raises(ValueError, match="cannot follow"):
        outbox.write_event(2, b"second", STATE, LINE)
    with pytest.raises(ValueError, match="does not wait"):
        outbox.write_reply(2, b"reply", STATE, ANSWER)
    outbox.write_reply(1, b"reply", STATE, ANSWER)
    with pytest.raises(ValueError, match="does not wait"):
        outbox.write_reply(1, b"reply", STATE, ANSWER)
    outbox.write_event(2, b"second", STATE, LINE)
    assert [sent.seq for sent in outbox.history(2)] == [2]
    outbox.close()


def test_a_new_outbox_goes_on_from_the_services_number_and_remembers_it(path: Path) -> None:
    outbox = Outbox.open(path, "one", "T-1")
    outbox.go_on_from(41, SavedTable(STATE, LINE, ANSWER))
    outbox = reopened(outbox, path)
    assert (outbox.last_seq, outbox.place) == (41, SavedTable(STATE, LINE, ANSWER))
    outbox.write_event(42, b"x", STATE, LINE)
    assert reopened(outbox, path).last_seq == 42


def test_a_second_agent_on_the_same_outbox_is_refused(path: Path) -> None:
    script = (
        "import sys, pathlib\n"
        "from controllers.agent.outbox import Outbox, OutboxError\n"
        "try:\n"
        "    Outbox.open(pathlib.Path(sys.argv[1]), 'one', 'T-1')\n"
        "except OutboxError as error:\n"
        "    sys.exit(str(error))\n"
    )
    outbox = Outbox.open(path, "one", "T-1")
    command = [sys.executable, "-c", script, str(path)]
    second = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert second.returncode == 1
    assert "another agent has it open" in second.stderr
    outbox.close()
    third = subprocess.run(command, capture_output=True, text=True, timeout=30, check=False)
    assert (third.returncode, third.stderr) == (0, "")


def test_an_event_outlives_a_killed_writer(path: Path) -> None:
    script = (
        "import sys, pathlib, time\n"
        "from controllers.agent.outbox import Outbox\n"
        "outbox = Outbox.open(pathlib.Path(sys.argv[1]), 'one', 'T-1')\n"
        "for seq in range(1, 6):\n"
        "    outbox.write_event(seq, b'event %d' % seq, b'{}', b'line')\n"
        "    if seq < 5:\n"
        "        outbox.write_reply(seq, b'reply', b'{}', b'answer')\n"
        "print('written', flush=True)\n"
        "time.sleep(600)\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", script, str(path)], stdout=subprocess.PIPE, text=True
    ) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == "written\n"
        writer.kill()
    outbox = eventually(lambda: Outbox.open(path, "one", "T-1"))
    assert outbox.pending == Sent(5, b"event 5", None)
    assert [sent.seq for sent in outbox.history()] == [1, 2, 3, 4, 5]
    outbox.close()


def test_an_event_is_synced_before_it_is_given_out(path: Path) -> None:
    """A test cannot cut the power. It can check that the synced mode is on for events."""
    outbox = Outbox.open(path, "one", "T-1")
    connection = outbox._connection
    modes: list[int] = []

    def note(statement: str) -> None:
        if statement.startswith("INSERT INTO event"):
            modes.append(2)
        elif statement.startswith("PRAGMA synchronous"):
            modes.append(statement.endswith("FULL"))

    connection.set_trace_callback(note)
    outbox.write_place(SavedTable(STATE, LINE, ANSWER))
    outbox.write_event(1, b"first", STATE, LINE)
    connection.set_trace_callback(None)
    assert modes == [False, True, 2]
    assert connection.execute("PRAGMA synchronous").fetchone() == (2,)
    assert connection.execute("PRAGMA journal_mode").fetchone() == ("wal",)
    outbox.close()


def test_another_tables_outbox_is_refused(path: Path) -> None:
    Outbox.open(path, "one", "T-1").close()
    with pytest.raises(OutboxError, match="belongs to table T-1 of link one"):
        Outbox.open(path, "one", "T-2")
    with pytest.raises(OutboxError, match="belongs to table T-1 of link one"):
        Outbox.open(path, "two", "T-1")


def test_a_file_that_is_no_outbox_is_refused(tmp_path: Path) -> None:
    text = tmp_path / "text.sqlite"
    text.write_text("not a database, but long enough to be looked at\n" * 100)
    with pytest.raises(OutboxError, match="damaged"):
        Outbox.open(text, "one", "T-1")
    other = tmp_path / "other.sqlite"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE other (x)")
    connection.close()
    with pytest.raises(OutboxError, match="not an outbox of this version"):
        Outbox.open(other, "one", "T-1")
    with pytest.raises(OutboxError, match="cannot be written"):
        Outbox.open(text / "below" / "x.sqlite", "one", "T-1")


def filled(path: Path) -> bytes:
    outbox = Outbox.open(path, "one", "T-1")
    for seq in range(1, 30):
        outbox.write_event(seq, b"x" * 3000, STATE, LINE)
        outbox.write_reply(seq, b"y" * 1000, STATE, ANSWER)
    outbox.close()
    return path.read_bytes()


@pytest.mark.parametrize("kept", [0.3, 0.6, 0.9, None])
def test_a_torn_outbox_or_one_with_a_spoilt_page_is_refused(path: Path, kept: float | None) -> None:
    """This holds for a page too that is not needed now."""
    data = filled(path)
    page = len(data) // 4096 // 3 * 4096
    spoilt = data[:page] + b"\xff" * 4096 + data[page + 4096 :]
    path.write_bytes(spoilt if kept is None else data[: int(len(data) * kept)])
    with pytest.raises(OutboxError, match=f"outbox {path}: it is damaged"):
        Outbox.open(path, "one", "T-1")
