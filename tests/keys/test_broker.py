"""Permissions at a real mosquitto: each forbidden operation is tried, and has no effect.

MQTT 3.1.1 does not report that something was denied. So each attempt is judged by the messages that
a user with access to everything has received.
"""

import ssl
from dataclasses import replace
from pathlib import Path
from typing import Final

import aiomqtt
import pytest

from meters.floor.facility import Service
from meters.floor.floor_file import read_floor
from meters.floor.key_bundle import CHECK, DISPLAY, Identity, service_identity, table_identity
from meters.floor.own_credentials import broker_address
from meters.keys.authority import Authority
from meters.mqtt.broker_connect import connect_broker
from meters.mqtt.connection import BrokerError
from meters.selfcheck.server_checks import broker_check
from tests.keys.clients import (
    Ears,
    believing,
    by_certificate,
    by_password,
    observing,
    password_of,
    try_all,
)
from tests.keys.floor import make_keys, write_floor
from tests.keys.raw import is_let_in
from tests.keys.servers import SecuredMosquitto

A1: Final = table_identity("main", "A-1")
A2: Final = table_identity("main", "A-2")
SERVICE: Final = service_identity(1)
ROOT: Final = "pitlink/v1"

OWN: Final = f"{ROOT}/main/table/A-1"
EVERY_TABLE: Final = ("main/table/A-1", "main/table/A-2", "other/table/B-1", "main/table/B-1")
FOR_ALL: Final = {
    f"{ROOT}/{link}/{what}"
    for link, what in [
        ("main", "meter/progressive"), ("main", "meter/five_card_progressive"),
        ("other", "meter/progressive"), *((at, of) for at in ("main", "other")
        for of in ("controller", "jackpot", "ledger")),
    ]
}  # fmt: skip
TOPICS: Final = (
    *(f"{ROOT}/{table}/{what}" for table in EVERY_TABLE for what in ("out", "in", "status")),
    *sorted(FOR_ALL), OWN, f"{OWN}/out/more", f"{ROOT}/main/meter",
    f"{ROOT}/main/meter/progressive/more", "pitlink/v2/main/controller", "anything",
)  # fmt: skip
"""Every topic of the floor, and some unknown ones."""
MAY_WRITE: Final = {
    A1: {f"{OWN}/out", f"{OWN}/status"},
    SERVICE: FOR_ALL | {f"{ROOT}/{table}/in" for table in EVERY_TABLE},
    DISPLAY: set(),
    CHECK: set(),
}
MAY_READ: Final = {
    A1: {
        f"{OWN}/in",
        *(f"{ROOT}/main/{what}" for what in ("controller", "jackpot", "meter/progressive")),
    },
    SERVICE: {f"{ROOT}/{table}/{what}" for table in EVERY_TABLE for what in ("out", "status")}
    | {topic for topic in FOR_ALL if topic.endswith("/controller") or "/meter/" in topic},
    DISPLAY: FOR_ALL | {f"{ROOT}/{table}/status" for table in EVERY_TABLE},
    CHECK: set(),
}
FILTERS: Final = (
    "#", "$SYS/#", "$share/pitlink/#", f"$share/others/{ROOT}/+/table/+/in", f"{ROOT}/#",
    f"{ROOT}/+/table/+/in", f"{ROOT}/+/table/+/out", "+/+/+/+/+/+", *TOPICS,
)  # fmt: skip
PARTIES: Final = pytest.mark.parametrize(
    "party", [A1, SERVICE, DISPLAY, CHECK], ids=lambda party: party.username
)


def client_of(broker: SecuredMosquitto, keys: Path, party: Identity, way: str) -> aiomqtt.Client:
    """Return a client with an identity's own credentials; a certificate counts, not the name."""
    if way == "certificate":
        return by_certificate(broker, believing(keys, party=party), username=A2.username)
    return by_password(broker, keys, party.username, password_of(keys, party))


def enter(
    broker: SecuredMosquitto, keys: Path, party: Identity, way: str, *, will: str | None = None
) -> bool:
    if way == "certificate":
        return is_let_in(broker.port, believing(keys, party=party), will=will)
    return is_let_in(
        broker.password_port, believing(keys), username=party.username,
        password=password_of(keys, party), will=will,
    )  # fmt: skip


@pytest.mark.duty("D20", proof=True)
@PARTIES
@pytest.mark.parametrize(("way", "retain"), [("certificate", True), ("password", False)])
async def test_publishing(
    broker: SecuredMosquitto, keys: Path, party: Identity, way: str, *, retain: bool
) -> None:
    """Each client publishes on its own topics and on no other, retained or not."""
    async with observing(broker, keys) as observer:
        await try_all(lambda: client_of(broker, keys, party, way), TOPICS, retain=retain)
        assert {topic for topic, _ in await observer.since()} == MAY_WRITE[party]
    async with observing(broker, keys) as later:
        assert later.kept == (MAY_WRITE[party] if retain else set())
        await later.publish(*MAY_WRITE[party], payload=b"", retain=True)


@pytest.mark.duty("D20")
@PARTIES
@pytest.mark.parametrize("way", ["certificate", "password"])
async def test_reading(broker: SecuredMosquitto, keys: Path, party: Identity, way: str) -> None:
    """With any subscription, each client receives what it may read and nothing else."""
    async with observing(broker, keys) as observer, client_of(broker, keys, party, way) as client:
        await observer.publish(*TOPICS, payload=b"kept", retain=True)
        for pattern in FILTERS:
            await client.subscribe(pattern, qos=1)
        # The broker's own statistics exist, for users who may read them.
        await observer.client.subscribe("$SYS/broker/uptime")
        await observer.next_of("$SYS/broker/uptime")
        await observer.publish(*TOPICS)
        if MAY_READ[party]:
            last = max(MAY_READ[party])
            await observer.publish(last, payload=b"the last")
            heard = {topic for topic, _ in await Ears(client).until(last, b"the last")}
        else:
            # The broker's answer comes after everything that it sent before.
            await client.subscribe("another", qos=1)
            heard = {"something"} if len(client.messages) else set()
        assert heard == MAY_READ[party]
        await observer.publish(*TOPICS, payload=b"", retain=True)


async def test_a_service_that_is_refused_learns_why(broker: SecuredMosquitto, keys: Path) -> None:
    """A password that is wrong, and a broker that the service does not trust."""
    service = Service(broker=broker.password_url, keys=str(keys))
    right = broker_address(service, DISPLAY)
    wrong = replace(right, username=DISPLAY.username, password="wrong")  # noqa: S106  (made up)
    with pytest.raises(BrokerError, match=r"refused the connection: (not authorized|wrong)"):
        await connect_broker(wrong, "one").__aenter__()
    with pytest.raises(BrokerError, match="certificate verify failed"):
        await connect_broker(replace(right, files=None), "one").__aenter__()


@pytest.mark.duty("D20")
@pytest.mark.parametrize("way", ["certificate", "password"])
async def test_last_wills(broker: SecuredMosquitto, keys: Path, way: str) -> None:
    """A will on one's own topic is published. A will on any other topic never is."""
    async with observing(broker, keys) as observer:
        foreign = [topic for topic in TOPICS if topic not in MAY_WRITE[A1]]
        for topic in [*foreign, f"{OWN}/status"]:
            enter(broker, keys, A1, way, will=topic)
        # The last will to be left is the first to be received.
        assert await observer.until(f"{OWN}/status", b"gone") == []
        assert await observer.since() == []
        await observer.publish(f"{OWN}/status", payload=b"", retain=True)


@pytest.mark.parametrize("name", ["pitlink/main/A-1", "table.A-1"])
async def test_nobody_is_disconnected_by_another_user_of_their_client_id(
    broker: SecuredMosquitto, keys: Path, name: str
) -> None:
    own, foreign = believing(keys, party=A1), believing(keys, party=A2)
    async with by_certificate(broker, own, identifier=name) as table:
        await table.subscribe(f"{OWN}/in", qos=1)
        async with by_certificate(broker, foreign, identifier=name) as other:
            await other.publish(f"{ROOT}/main/table/A-2/out", b"", qos=1)
        async with client_of(broker, keys, SERVICE, "password") as service:
            await service.publish(f"{OWN}/in", b"still there", qos=1)
        assert await Ears(table).until(f"{OWN}/in", b"still there") == []


def test_who_is_not_let_in(broker: SecuredMosquitto, keys: Path, tmp_path: Path) -> None:
    """Refused: no certificate, a foreign one, no password, or another client's password."""
    right, others = password_of(keys, A1), password_of(keys, A2)
    assert enter(broker, keys, A1, "certificate")
    assert enter(broker, keys, A1, "password")

    nobody = believing(keys)
    assert not is_let_in(broker.port, nobody)
    assert not is_let_in(broker.port, nobody, username=A1.username, password=right)
    forged = Authority.found("Test House")[0].issue(A1.username)
    (tmp_path / "crt").write_bytes(forged.certificate)
    (tmp_path / "key").write_bytes(forged.key)
    assert not is_let_in(broker.port, believing(keys, (tmp_path / "crt", tmp_path / "key")))
    # A server's certificate is not valid for a client.
    home = keys / "broker"
    assert not is_let_in(broker.port, believing(keys, (home / "broker.crt", home / "broker.key")))

    for name, password in [
        *((A1.username, wrong) for wrong in (others, right[:-1], "", None)),
        *((another, right) for another in (SERVICE.username, "nobody")),
        (None, None),
    ]:
        assert not is_let_in(broker.password_port, nobody, username=name, password=password), name
    # Credentials for the other listener are refused here, and all of them without TLS.
    assert not is_let_in(broker.password_port, believing(keys, party=A1))
    for port in (broker.port, broker.password_port):
        assert not is_let_in(port, None, username=A1.username, password=right)


def test_no_client_connects_to_a_foreign_broker(broker: SecuredMosquitto, keys: Path) -> None:
    """A client trusts the floor's authority alone, and only for the host that it asked for."""
    home = keys / A1.place
    system = ssl.create_default_context()
    system.load_cert_chain(home / "table.crt", home / "table.key")
    assert not is_let_in(broker.port, system)
    # The test uses another host name, which is not in the broker's certificate.
    assert not is_let_in(broker.port, believing(keys, party=A1), host="broker.elsewhere")
    assert is_let_in(broker.port, believing(keys, party=A1), host="127.0.0.1")


def test_renewed_keys_end_the_old_ones(keys: Path, mine: Path, tmp_path: Path) -> None:
    """A replaced certificate is revoked, and its password is gone. Others stay valid."""
    make_keys(write_floor(tmp_path / "floor.toml"), mine, "--renew", "A-1")
    with SecuredMosquitto(mine, made_at=keys) as broker:
        for way in ("certificate", "password"):
            assert enter(broker, mine, A1, way)
            assert not enter(broker, keys, A1, way)
            assert enter(broker, keys, A2, way)


@pytest.mark.duty("D20")
async def test_a_broker_without_its_access_list_is_found(keys: Path, tmp_path: Path) -> None:
    """A mosquitto that cannot reload a removed list continues, and admits everybody."""
    with SecuredMosquitto(keys) as broker:
        config = write_floor(tmp_path / "floor.toml", broker=broker.url, keys=keys)
        floor = read_floor(config)
        assert (await broker_check(floor)).holds
        broker.lose_access_list()
        for _ in range(200):
            if (check := await broker_check(floor)).fails:
                break
        assert "access list is not in force" in check.seen
