"""Installation of configuration files, each shown to a person and never over a changed file."""

from collections.abc import Callable
from pathlib import Path

from meters.process.printing import print_text
from meters.setup.file_states import FilePlan, FileState, packaged_conffiles, plan_file
from meters.setup.file_writing import give_file, replace_file
from meters.setup.places import RECORD, below, owner_ids
from meters.setup.record import SetupRecord
from meters.setup.wanted_files import WantedFile


class FileInstaller:
    """Installation of the files of one machine, with the record of what was written there.

    A file or record that cannot be read or written is a UserError. `may_write` shows a file and
    asks the person.
    """

    def __init__(self, root: Path, may_write: Callable[[FilePlan], bool]) -> None:
        self._root = root
        self._may_write = may_write
        self._record = SetupRecord.read(below(root, RECORD))
        self._conffiles = packaged_conffiles(root)

    def plan(self, wanted: WantedFile) -> FilePlan:
        """Compare a file of the machine with its wanted text."""
        return plan_file(wanted, self._root, self._record, self._conffiles)

    def write(self, plan: FilePlan) -> bool:
        """Write a file, unless a person changed it or refuses the text. Return True if it is there.

        The wanted text of a file that a person changed goes into a file next to it.
        """
        if plan.state is FileState.DONE:
            wanted, owner = plan.wanted, self._owner(plan)
            if owner is not None:
                give_file(plan.place, owner)
            elif not wanted.is_example and not self._record.has_written(wanted.path, plan.data):
                self._save(plan)
            print_text(f"{plan.place}  unchanged")
            plan.other_place.unlink(missing_ok=True)
            return True
        if plan.state is FileState.FOREIGN:
            replace_file(plan.other_place, plan.data)
            print_text(
                f"{plan.place}  left as it is, because a person wrote or changed it. The text that"
                f" pitlink needs is in {plan.other_place}: compare the two files, and complete the"
                " first one"
            )
            return False
        if not self._may_write(plan):
            print_text(f"{plan.place}  not written: you said no")
            return False
        # The digest is recorded first. So after an interruption, the text counts as ours.
        self._save(plan)
        replace_file(plan.place, plan.data, self._owner(plan))
        print_text(f"{plan.place}  written")
        return True

    def _owner(self, plan: FilePlan) -> tuple[int, int] | None:
        owner = plan.wanted.owner
        return None if owner is None else owner_ids(self._root, owner)

    def forget_start(self, server: str) -> None:
        """Record that a server does not yet run with its present files."""
        self._record.servers.pop(server, None)
        self._record.write(below(self._root, RECORD))

    def remember_start(self, server: str, digest: str) -> None:
        """Record the digest of the files with which a server was started."""
        self._record.servers[server] = digest
        self._record.write(below(self._root, RECORD))

    def _save(self, plan: FilePlan) -> None:
        self._record.add(plan.wanted.path, plan.data)
        self._record.write(below(self._root, RECORD))
