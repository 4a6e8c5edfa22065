"""`pitlink keys`: what it creates, what it leaves unchanged, and what it reports."""

import datetime
import hashlib
import os
import re
import shutil
import stat
import tempfile
from functools import partial
from pathlib import Path
from typing import Final

import pytest
from cryptography import x509

from bonus.errors import UserError
from meters.floor.facility import Service
from meters.floor.floor_file import Floor, read_floor
from meters.floor.key_bundle import service_identity
from meters.floor.own_credentials import broker_address, own_identity
from meters.keys import authority, keyring
from meters.keys.keyring import Keyring, holders
from meters.process.private_files import write_private
from meters.selfcheck.key_checks import check_keys, check_page_certificate, check_transport
from tests.keys.floor import ANOTHER_TABLE, make_keys, with_moved_table, write_floor
from tests.processes import invoke_pitlink

FOREIGN: Final = authority.Authority.found("Another")[1].key


def contents(directory: Path) -> dict[str, bytes]:
    return {
        str(path.relative_to(directory)): path.read_bytes()
        for path in directory.rglob("*")
        if path.is_file()
    }


@pytest.fixture
def floor(tmp_path: Path) -> Floor:
    return read_floor(write_floor(tmp_path / "floor.toml"))


def fill(keys: Path, floor: Floor, *renewed: str, services: int = 1) -> dict[str, str]:
    held = holders(floor, services, (), ())
    return {entry.place: entry.act for entry in Keyring(keys, floor).fill(held, renewed)}


def test_every_table_has_its_bundle_which_nobody_else_can_read(keys: Path) -> None:
    for path in keys.rglob("*"):
        assert stat.S_IMODE(path.stat().st_mode) == (0o700 if path.is_dir() else 0o600), path
    bundle = keys / "tables" / "main.A-1"
    assert {path.name for path in bundle.iterdir()} == {
        "ca.crt", "table.crt", "table.key", "password",
    }  # fmt: skip
    certificate = x509.load_pem_x509_certificate((bundle / "table.crt").read_bytes())
    assert certificate.subject.rfc4514_string() == "CN=table.A-1"
    passwords = [path.read_text() for path in keys.rglob("*password")]
    assert len(passwords) == len(set(passwords)) == 10


def test_again_it_keeps_all_and_adds_a_table(mine: Path, tmp_path: Path) -> None:
    """The servers' lists are written again. Their configuration is written only once."""
    before = contents(mine)
    (mine / "broker" / "listeners.conf").write_text("# the house's own\n")
    config = write_floor(tmp_path / "floor.toml")
    config.write_text(config.read_text() + ANOTHER_TABLE)
    printed = make_keys(config, mine)
    assert "made    tables/other.B-2" in printed
    assert "kept    tables/main.A-1" in printed
    after = contents(mine)
    changed = {name for name in before if after[name] != before[name]}
    assert changed == {"broker/acl", "broker/passwords", "broker/listeners.conf"}
    assert {name.rpartition("/")[0] for name in after.keys() - before} == {"tables/other.B-2"}
    assert b"user table.B-2\n" in after["broker/acl"]
    assert after["broker/listeners.conf"] == b"# the house's own\n"
    for name, data in after.items():
        if name.endswith(("password", ".key")):
            assert data.splitlines()[-2 if name.endswith(".key") else 0].decode() not in printed


@pytest.mark.slow
def test_a_floor_file_that_names_its_keys_is_not_to_be_changed(mine: Path, tmp_path: Path) -> None:
    """Keys are made in one place and copied to another, as `pitlink install-keys` does."""
    for named, line in (
        (None, f'Put  keys = "{mine}"'),
        (Path("/etc/keys"), "/etc/keys: copy each"),
    ):
        printed = make_keys(write_floor(tmp_path / "floor.toml", keys=named), mine)
        assert line in printed
        assert ("Put  keys" in printed) == (named is None)


@pytest.mark.slow
def test_the_servers_files_name_the_places_where_they_will_be(mine: Path, tmp_path: Path) -> None:
    """The configuration, otherwise written only once, is written again with the given places."""
    config = write_floor(tmp_path / "floor.toml")
    places = ("--broker-home", "/etc/mosquitto/pitlink", "--redis-home", "/etc/redis/pitlink")
    make_keys(config, mine, *places)
    listeners = (mine / "broker" / "listeners.conf").read_text()
    tls = (mine / "redis" / "tls.conf").read_text()
    assert "acl_file /etc/mosquitto/pitlink/acl\n" in listeners
    assert 'aclfile "/etc/redis/pitlink/users.acl"\n' in tls
    assert str(mine) not in listeners + tls
    there = {path.name for path in (*(mine / "broker").iterdir(), *(mine / "redis").iterdir())}
    named = re.findall(r"/etc/(?:mosquitto|redis)/pitlink/([\w.]+)", listeners + tls)
    assert set(named) <= there
    words = ("keys", "--config", str(config), "--out", str(mine), "--redis-home", "redis")
    wrong = invoke_pitlink(*words)
    assert wrong.returncode == 2
    assert "whole path" in wrong.stderr


@pytest.mark.skipif(os.geteuid() != 0, reason="only root gives files away")
def test_what_root_rewrites_its_server_can_read(mine: Path, floor: Floor) -> None:
    """A directory that was given to mosquitto belongs to mosquitto completely."""
    for path in (mine / "broker", *(mine / "broker").iterdir()):
        os.chown(path, 65_534, 65_534)
    fill(mine, floor, "broker", "table.A-1")
    assert {path.stat().st_uid for path in (mine / "broker").iterdir()} == {65_534}
    assert (mine / "tables" / "main.A-1" / "password").stat().st_uid == 0


def test_a_table_that_is_gone_can_do_nothing(mine: Path, tmp_path: Path) -> None:
    config = write_floor(tmp_path / "floor.toml")
    config.write_text(config.read_text().replace('"B-1"', '"B-9"'))
    assert "unused  tables/other.B-1" in make_keys(config, mine)
    assert b"B-1" not in (mine / "broker" / "acl").read_bytes()
    assert b"B-1" not in (mine / "broker" / "passwords").read_bytes()


def revoked(keys: Path) -> list[int]:
    crl = x509.load_pem_x509_crl((keys / "broker" / "revoked.crl").read_bytes())
    return [each.serial_number for each in crl]


def test_a_table_that_moves_leaves_no_certificate_that_the_broker_accepts(
    mine: Path, tmp_path: Path
) -> None:
    """The certificate names the table and not its link, so the broker would accept both."""
    before = read_floor(write_floor(tmp_path / "floor.toml"))
    there = tmp_path / "moved.toml"
    there.write_text(with_moved_table((tmp_path / "floor.toml").read_text()))
    moved = read_floor(there)
    serials = {}
    for place, floor in (("main.A-1", before), ("other.A-1", moved), ("main.A-1", before)):
        fill(mine, floor)
        home = mine / "tables" / place
        certificate = x509.load_pem_x509_certificate((home / "table.crt").read_bytes())
        assert certificate.serial_number not in revoked(mine)
        serials[certificate.serial_number] = place
        assert set(revoked(mine)) == serials.keys() - {certificate.serial_number}
        (mine / "authority" / "ca.key").rename(tmp_path / "ca.key")
        assert fill(mine, floor)[f"tables/{place}"] == "kept", "nothing more is to be signed"
        (tmp_path / "ca.key").rename(mine / "authority" / "ca.key")
    assert len(serials) == 3


def test_only_what_is_renewed_changes(mine: Path, floor: Floor) -> None:
    before = contents(mine)
    acts = fill(mine, floor, "table.A-1")
    assert {place for place, act in acts.items() if act != "kept"} == {"tables/main.A-1"}
    after = contents(mine)
    assert {name for name in before if after[name] != before[name]} == {
        "broker/passwords",
        "broker/revoked.crl",
        *(f"tables/main.A-1/{name}" for name in ("password", "table.crt", "table.key")),
    }
    crl = x509.load_pem_x509_crl(after["broker/revoked.crl"])
    old = x509.load_pem_x509_certificate(before["tables/main.A-1/table.crt"])
    assert revoked(mine) == [old.serial_number]
    ours = x509.load_pem_x509_certificate(after["authority/ca.crt"])
    key = ours.public_key()
    assert crl.is_signature_valid(key)  # type: ignore[arg-type]


def shared(keys: Path, name: str) -> list[list[str]]:
    return [path.read_text().splitlines() for path in sorted(keys.glob(f"services/*/{name}"))]


def test_all_services_share_secrets_that_change_with_their_keys(mine: Path, floor: Floor) -> None:
    """A new service gets the same; after a renewal all have a new one. No log secret is lost."""
    ((group,),), ((first,),) = shared(mine, "event-group"), shared(mine, "log-secrets")
    assert len(first) >= 43
    assert fill(mine, floor, "table.A-1", "archive", services=2)["services/1"] == "kept"
    assert shared(mine, "event-group") == [[group]] * 2
    assert shared(mine, "log-secrets") == [[first]] * 2
    acts = fill(mine, floor, "service.2", services=2)
    assert (acts["services/1"], acts["services/2"]) == ("changed", "renewed")
    (renewed,), other = shared(mine, "event-group")
    assert (other, renewed == group) == ([renewed], False)
    (second, *before), newer = shared(mine, "log-secrets")
    assert (before, newer, second == first) == ([first], [second, first], False)
    (mine / "services" / "2" / "event-group").write_text("another\n")
    fill(mine, floor, services=2)
    assert shared(mine, "event-group")[0][0] not in {group, renewed, "another"}
    for name in ("event-group", "log-secrets"):
        assert {path.parent.parent.name for path in mine.rglob(name)} == {"services"}


@pytest.mark.parametrize(
    ("name", "text", "said"),
    [
        ("event-group", None, "has no event-group"),
        ("event-group", "another\n", "not all services have the same event-group"),
        ("log-secrets", None, "log-secrets"),
        ("log-secrets", "{first}\n", "not all"),
    ],
)
def test_a_service_that_lacks_what_others_have_is_named_and_given_it(
    mine: Path, floor: Floor, name: str, text: str | None, said: str
) -> None:
    ((first,),) = shared(mine, "log-secrets")
    fill(mine, floor, "service.1", services=2)
    path = mine / "services" / "2" / name
    path.unlink()
    if text is not None:
        write_private(path, text.format(first=first))
    assert [one.seen for one in check_keys(mine) if one.warns and said in one.seen]
    before, kept = contents(mine), path.read_text() if text else ""
    acts = fill(mine, floor, services=2)
    assert (acts["services/2"], acts["archive"]) == ("changed", "kept")
    assert path.read_text() != kept
    assert [one.holds for one in check_keys(mine)] == [True]
    changed = {each for each, data in contents(mine).items() if data != before.get(each)}
    assert changed <= {f"services/1/{name}", f"services/2/{name}", "redis/users.acl"}


def test_redis_accepts_the_password_for_users_of_each_service(mine: Path, floor: Floor) -> None:
    before = shared(mine, "redis-people-password")
    fill(mine, floor, "service.1", services=2)
    every = shared(mine, "redis-people-password")
    assert before[0] not in every
    (line,) = re.findall(
        r"^user pitlink-people .*$", (mine / "redis" / "users.acl").read_text(), re.MULTILINE
    )
    hashed = {f"#{hashlib.sha256(each.encode()).hexdigest()}" for (each,) in every}
    assert len(hashed) == 2
    assert {word for word in line.split() if word.startswith("#")} == hashed


@pytest.mark.parametrize("text", ["short", "a/b" * 20, "+" * 40, "#" + "a" * 40])
def test_what_is_no_name_of_a_group_is_refused_without_being_shown(mine: Path, text: str) -> None:
    (mine / "services" / "1" / "event-group").write_text(text)
    service = Service(broker="mqtts://localhost:8883", keys=str(mine))
    with pytest.raises(UserError, match="event-group does not contain a group name") as error:
        broker_address(service, service_identity(1))
    assert text not in str(error.value)


def test_a_name_that_nobody_has_is_refused(mine: Path, tmp_path: Path) -> None:
    config = write_floor(tmp_path / "floor.toml")
    before = contents(mine)
    done = invoke_pitlink("keys", "--config", str(config), "--out", str(mine), "--renew", "A-7")
    assert done.returncode == 1
    assert (
        "no table or program is called A-7: it is one of A-1, A-2, B-1, broker, redis,"
        in done.stderr
    )
    assert "Traceback" not in done.stderr
    assert contents(mine) == before


@pytest.mark.parametrize(
    ("spoilt", "said"),
    [
        ({"authority/ca.key": None}, "nothing can be signed"),
        # New keys that the servers do not trust would be useless.
        ({"authority/ca.crt": None}, "start again"),
        ({"authority/ca.crt": None, "authority/ca.key": None}, "start again"),
        ({"authority/ca.key": FOREIGN}, "does not match its certificate"),
        ({"authority/ca.key": b"nonsense"}, "is not a PEM file"),
        ({"services/1/log-secrets": b"short\n"}, "log-secrets must contain only lines of at least"),
    ],
    ids=lambda value: value if isinstance(value, str) else " and ".join(value),
)
def test_keys_that_are_lost_or_do_not_belong_together_are_not_replaced_in_silence(
    mine: Path, floor: Floor, spoilt: dict[str, bytes | None], said: str
) -> None:
    for name, data in spoilt.items():
        if data is None:
            (mine / name).unlink()
        else:
            (mine / name).write_bytes(data)
    with pytest.raises(UserError, match=said):
        fill(mine, floor, "table.A-1")


def test_an_interrupted_first_run_is_continued(
    tmp_path: Path, floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An authority with a key and no certificate would be taken for a lost one."""
    written: list[Path] = []

    def interrupted(path: Path, content: str | bytes) -> None:
        if len(written) == 1:
            raise KeyboardInterrupt
        written.append(path)
        write_private(path, content)

    monkeypatch.setattr(keyring, "write_private", interrupted)
    with pytest.raises(KeyboardInterrupt):
        fill(tmp_path / "keys", floor)
    monkeypatch.setattr(keyring, "write_private", write_private)
    assert written[0].exists()
    assert fill(tmp_path / "keys", floor)["authority"] == "made"


@pytest.mark.parametrize("host", ["a b", "http://a", "a/b", "-", ""])
def test_what_is_no_host_is_refused(tmp_path: Path, floor: Floor, host: str) -> None:
    with pytest.raises(UserError, match="is not a host name"):
        Keyring(tmp_path / "keys", floor).fill(holders(floor, 1, (host,), ()), ())


def test_hosts_of_the_floor_file_and_of_the_options(tmp_path: Path) -> None:
    config = write_floor(tmp_path / "floor.toml", broker="mqtts://broker.pit:8883")
    floor = read_floor(config)
    Keyring(tmp_path / "keys", floor).fill(holders(floor, 1, ("10.0.0.7",), ()), ())
    assert hosts_in(tmp_path / "keys", "broker") == (
        ["broker.pit", "localhost"],
        ["10.0.0.7", "127.0.0.1", "::1"],
    )


def hosts_in(keys: Path, server: str) -> tuple[list[str], list[str]]:
    certificate = x509.load_pem_x509_certificate((keys / server / f"{server}.crt").read_bytes())
    names = certificate.extensions.get_extension_for_class(x509.SubjectAlternativeName).value
    return (
        names.get_values_for_type(x509.DNSName),
        [str(each) for each in names.get_values_for_type(x509.IPAddress)],
    )


@pytest.mark.slow
@pytest.mark.parametrize(
    ("server", "option"), [("broker", "--broker-host"), ("redis", "--redis-host")]
)
def test_a_renewed_server_keeps_its_hosts_and_gets_those_of_the_run(
    tmp_path: Path, server: str, option: str
) -> None:
    """If the files of a server were deleted, it gets only the hosts of the run."""
    keys = tmp_path / "keys"
    run = partial(make_keys, write_floor(tmp_path / "floor.toml"), keys)
    run(option, "first.pit", option, "10.0.0.7")
    first = (keys / server / f"{server}.crt").read_bytes()
    run("--renew", "all", option, "second.pit", option, "10.0.0.7", option, "fd00:0::9")
    assert (keys / server / f"{server}.crt").read_bytes() != first
    names, addresses = hosts_in(keys, server)
    assert sorted(names) == ["first.pit", "localhost", "second.pit"]
    assert sorted(addresses) == ["10.0.0.7", "127.0.0.1", "::1", "fd00::9"]
    run("--renew", server)
    assert [sorted(each) for each in hosts_in(keys, server)] == [sorted(names), sorted(addresses)]
    run(option, "third.pit")
    assert "third.pit" not in hosts_in(keys, server)[0], "a kept certificate does not change"
    for ending in ("crt", "key"):
        (keys / server / f"{server}.{ending}").unlink()
    run(option, "second.pit")
    assert hosts_in(keys, server) == (["second.pit", "localhost"], ["127.0.0.1", "::1"])


@pytest.mark.parametrize(
    ("days", "holds", "warns", "said"),
    [(-1, False, False, "expired on"), (20, False, True, "in 19 days"), (90, True, False, "first")],
)
def test_expiry_is_reported_in_time(
    tmp_path: Path,
    floor: Floor,
    monkeypatch: pytest.MonkeyPatch,
    days: int,
    *,
    holds: bool,
    warns: bool,
    said: str,
) -> None:
    made = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=10)
    monkeypatch.setattr(authority, "_now", lambda: made)
    monkeypatch.setattr(authority, "CERTIFICATE_DAYS", 10 + days)
    fill(tmp_path / "keys", floor)
    found = check_keys(tmp_path / "keys")
    assert {(one.holds, one.warns) for one in found} == {(holds, warns)}
    assert all(said in one.seen for one in found)
    assert len(found) == (1 if holds else 9)
    used = tmp_path / "keys" / "broker" / "broker.crt"
    (of_pages,) = check_page_certificate(Service(certificate=str(used)))
    assert (of_pages.what, of_pages.holds, of_pages.warns) == ("certificate", holds, warns)
    assert "expire" in of_pages.seen
    assert ("restart services and agents" in of_pages.seen) is not holds


def test_a_certificate_of_the_floor_file_that_nobody_can_read_is_a_failure(tmp_path: Path) -> None:
    lost = str(tmp_path / "pit.pem")
    (found,) = check_page_certificate(Service(certificate=lost))
    assert (found.fails, found.seen) == (True, f"{lost} is not a readable certificate")
    assert not [*check_page_certificate(Service())]


def test_the_finding_about_an_authority_does_not_say_that_a_renewal_helps(
    tmp_path: Path, floor: Floor, monkeypatch: pytest.MonkeyPatch
) -> None:
    """No renewal makes another authority, so every copy of its certificate says what does."""
    made = datetime.datetime.now(datetime.UTC) - datetime.timedelta(days=10)
    monkeypatch.setattr(authority, "_now", lambda: made)
    monkeypatch.setattr(authority, "AUTHORITY_DAYS", 30)
    keys = tmp_path / "keys"
    fill(keys, floor)
    before = (keys / "authority" / "ca.crt").read_bytes()
    fill(keys, floor, *(holder.party.username for holder in holders(floor, 1, (), ())))
    assert (keys / "authority" / "ca.crt").read_bytes() == before
    found = check_keys(keys)
    assert {one.what.rpartition("/")[2] for one in found} == {"ca.crt"}
    assert all("`pitlink keys --out DIRECTORY`" in one.seen for one in found)
    assert not any("--renew" in one.seen for one in found)


def test_an_open_secret_is_reported(mine: Path) -> None:
    path = mine / "services" / "1" / "redis-password"
    path.chmod(0o640)
    (found,) = check_keys(mine)
    assert (found.holds, found.warns) == (False, True)
    assert f"chmod 600 {path}" in found.seen


@pytest.mark.parametrize(
    ("broker", "redis", "warned"),
    [
        ("mqtts://a", "rediss://b", []),
        ("mqtt://127.0.0.1", "redis://localhost", []),
        ("embedded", "unix:///a", []),
        ("mqtt://10.0.0.7", "redis://b", ["way to broker", "way to redis"]),
    ],
)
def test_what_is_said_in_the_clear_is_warned_of(broker: str, redis: str, warned: list[str]) -> None:
    found = list(check_transport(Service(broker=broker, redis=redis)))
    assert [one.what for one in found] == warned
    assert all(one.warns and not one.holds for one in found)


def test_no_keys_at_all(tmp_path: Path) -> None:
    (found,) = check_keys(tmp_path)
    assert (found.holds, found.warns) == (False, False)


def test_each_service_takes_a_key_that_none_has(mine: Path, floor: Floor) -> None:
    """Each takes the first free one. A service that ends frees its own."""
    assert fill(mine, floor, services=2)["services/2"] == "made"
    service = Service(keys=str(mine))
    with own_identity(service) as first:
        with own_identity(service) as second:
            assert (first.username, second.username) == ("service.1", "service.2")
            with pytest.raises(UserError, match="--services N"), own_identity(service):
                pass
        with own_identity(service) as again:
            assert again.username == "service.2"


@pytest.mark.skipif(os.geteuid() != 0, reason="root becomes another user here")
def test_a_service_leaves_out_bundles_that_its_user_may_not_read(mine: Path) -> None:
    """Of two bundles it takes its own. Without a bundle of its own it says what to do."""
    nobody = 65_534
    with tempfile.TemporaryDirectory() as home:
        keys = Path(home) / "keys"
        for number in (1, 2):
            shutil.copytree(mine / "services" / "1", keys / "services" / str(number))
        for path in (Path(home), keys, keys / "services"):
            path.chmod(0o755)
        own = keys / "services" / "2"
        for path in (own, *own.iterdir()):
            os.chown(path, nobody, nobody)
        service = Service(keys=str(keys))
        os.seteuid(nobody)
        try:
            with own_identity(service) as party:
                assert party.username == "service.2"
                expected = "all key bundles that this user can read"
                with pytest.raises(UserError, match=expected), own_identity(service):
                    pass
            os.seteuid(0)
            (keys / "services").chmod(0o700)
            os.seteuid(nobody)
            with (
                pytest.raises(UserError, match="system user 65534 cannot read the keys"),
                own_identity(service),
            ):
                pass
        finally:
            os.seteuid(0)
