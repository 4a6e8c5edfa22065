"""The address of a Redis with replicas in the floor file: parsed, or refused with a message."""

from pathlib import Path

import pytest

from meters.floor.facility import Service
from meters.floor.floor_file import FloorError, read_floor
from meters.floor.server_addresses import HostPort, hosts_of, parse_replicated
from meters.selfcheck.key_checks import check_transport
from tests.mqtt.floors import many_tables_text

SENTINELS = "redis+sentinel://a:26379,b/pitlink"


def test_every_part_is_read() -> None:
    found = parse_replicated(
        "rediss+sentinel://pit:p%40ss@a:1,[::1]:2,b/house-1/3?replicas=2&ssl_ca_certs=%2Fca.crt"
    )
    assert found.places == (HostPort("a", 1), HostPort("::1", 2), HostPort("b", 26_379))
    assert (found.service, found.database, found.tls, found.replicas) == ("house-1", 3, True, 2)
    assert found.options == (("ssl_ca_certs", "/ca.crt"),)


def test_what_is_left_out_has_its_usual_value() -> None:
    found = parse_replicated("redis+cluster://a,b:7000")
    assert found.places == (HostPort("a", 6_379), HostPort("b", 7_000))
    assert (found.service, found.database, found.tls, found.replicas) == ("", 0, False, 1)
    assert parse_replicated("redis+cluster://a/0") == parse_replicated("redis+cluster://a/")


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("redis+sentinel://a:26379,b:26379", "the name by which they watch"),
        ("redis+sentinel://a/pitlink/x", "the name by which they watch"),
        ("redis+sentinel://a/pit link", "the name by which they watch"),
        ("redis+sentinel://a:0/pitlink", "with commas between them"),
        ("redis+sentinel://a:65536/pitlink", "with commas between them"),
        ("redis+sentinel://a,,b/pitlink", "with commas between them"),
        ("redis+sentinel://a b/pitlink", "with commas between them"),
        ("redis+cluster://a/1", "only database 0"),
        ("redis+cluster://a?replicas=0", "replicas=N (1 to 9)"),
        ("redis+cluster://a?replicas=2&replicas=2", "each once"),
        ("redis+cluster://a?db=1", "replicas=N (1 to 9)"),
        ("redis+cluster://a?ssl_ca_certs=x", "certificates need rediss"),
        ("redis+cluster://", "not the address of a Redis with replicas"),
        ("redis+ring://a", "not the address of a Redis with replicas"),
        ("redis+cluster://pit:se@cret@a", "not the address of a Redis with replicas"),
        ("redis+sentinel://pit:secret@a:99999/pitlink", "with commas between them"),
        ("redis+cluster://pit:se#cret@a", "not the address of a Redis with replicas"),
    ],
)
def test_what_is_wrong_is_said_with_its_line_and_no_password(
    tmp_path: Path, url: str, reason: str
) -> None:
    path = tmp_path / "floor.toml"
    path.write_text(many_tables_text(broker="embedded", redis=url, port=8080, data="data"))
    line = path.read_text().splitlines().index(f'redis = "{url}"') + 1
    with pytest.raises(FloorError) as refused:
        read_floor(path)
    assert reason in str(refused.value)
    assert f":{line}:" in str(refused.value)
    assert "cret" not in str(refused.value)


def test_every_host_is_named() -> None:
    """The names are for certificates, and for the warning of `pitlink check` without TLS."""
    assert hosts_of(SENTINELS) == ("a", "b")
    (seen,) = check_transport(Service(redis="redis+cluster://10.0.0.8:7000,127.0.0.1:7001"))
    assert seen.seen.startswith("10.0.0.8 is used without encryption")
    assert "rediss+cluster://" in seen.seen
    assert not [*check_transport(Service(redis="rediss+cluster://10.0.0.8"))]
