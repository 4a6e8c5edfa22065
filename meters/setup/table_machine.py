from pathlib import Path

from cryptography import x509

from bonus.errors import UserError
from meters.floor.floor_file import FloorError
from meters.floor.key_bundle import AUTHORITY_FILE, table_identity
from meters.process.printing import print_text
from meters.process.private_files import read_bytes
from meters.setup import units
from meters.setup.file_states import FileState, plan_file
from meters.setup.file_writing import replace_file
from meters.setup.floor_text import installed_floor
from meters.setup.key_installation import install_keys, table_keys
from meters.setup.places import FLOOR_FILE, RECORD, SYSTEM, below
from meters.setup.record import SetupRecord
from meters.setup.wanted_files import WantedFile


def install_table(root: Path, table: str, keys: Path, floor_file: Path) -> None:
    """Install the floor file and the keys of a table, and start its agent.

    Raises:
        UserError: the floor file or the keys are not those of this table, or the floor file on this
            machine was changed by a person.
    """
    data = read_bytes(floor_file)
    if data is None:
        raise FloorError(f"{floor_file}: there is no such file")
    try:
        text = data.decode()
    except UnicodeDecodeError:
        raise FloorError(f"{floor_file}: the file is not UTF-8: save it as UTF-8") from None
    floor = installed_floor(text, str(floor_file), of_table=True)
    found = floor.find_table(table)
    if found is None:
        raise UserError(f"{floor_file}: there is no table {table}")
    link, _ = found
    _check_bundle(keys, table_identity(link.id, table).username)
    record = SetupRecord.read(below(root, RECORD))
    plan = plan_file(WantedFile(FLOOR_FILE, text), root, record, {})
    if plan.state is FileState.FOREIGN:
        raise UserError(
            f"{plan.place} was written or changed by a person, and differs from {floor_file}: move"
            " it away, or copy the new file there yourself"
        )
    record.add(FLOOR_FILE, data)
    record.write(below(root, RECORD))
    if plan.state is not FileState.DONE:
        replace_file(plan.place, data)
    for one in install_keys(root, [table_keys(keys, link.id, table)]):
        print_text(f"{one.place}  {one.act}")
    unit = f"pitlink-table@{table}"
    if root != SYSTEM or not units.systemd_runs():
        print_text(f"systemd does not run here. With systemd: systemctl enable --now {unit}")
        return
    units.restart(unit)
    print_text(f"The address of the panel: journalctl -u {unit} -o cat | grep Panel")


def _check_bundle(keys: Path, username: str) -> None:
    """Refuse a directory that is not the key bundle of a program."""
    data = read_bytes(keys / "table.crt")
    if data is None or not all((keys / name).is_file() for name in (AUTHORITY_FILE, "table.key")):
        raise UserError(
            f"{keys} has no keys of a table, or not all of them: copy the directory that"
            " `pitlink setup` named on the machine of the services"
        )
    try:
        subject = x509.load_pem_x509_certificate(data).subject.rfc4514_string()
    except ValueError:
        raise UserError(f"{keys / 'table.crt'} is not a certificate: copy it again") from None
    if subject != f"CN={username}":
        raise UserError(f"the keys in {keys} are for {subject.removeprefix('CN=')}, not {username}")
