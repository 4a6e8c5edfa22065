"""After an error the state is unchanged (duty D11): each part killed in each table state.

Real processes are ended with SIGKILL and started again: the service, Redis, the broker and the
table's agent. Before and after, the test compares what the store and the table report of their
state.
"""

from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from typing import Any, Final, Self

import pytest

from meters.ledger.redis_layout import LinkKeys, StoredTable, reply_fields
from tests.chaos.devices import PLAYED_OUT, Devices
from tests.mqtt.stand import Stand
from tests.mqtt.stranger import Ear
from tests.servers import eventually
from tests.staff import Colleague, hire

pytestmark = pytest.mark.duty("D11")

KEYS: Final = LinkKeys("main")
BACK_WITHIN_S: Final = 60.0
ADDED_MICROS: Final = 100 * 1_400


@pytest.fixture(scope="module")
def stand(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stand]:
    with Stand(tmp_path_factory.mktemp("stand")) as stand:
        hire(stand.service.config, "Sue", "supervisor")
        yield stand


class Seat:
    def __init__(self, stand: Stand) -> None:
        self.stand = stand
        self.table = stand.table().table
        self._topic = f"pitlink/v1/main/table/{self.table}/status"
        self._up = ExitStack()
        self.devices = self._start()

    def _start(self) -> Devices:
        devices = Devices(self.stand.service.config, self.table)
        # `Devices` is not entered as a context manager: that waits for an accepted wager, and a
        # table on hold accepts none.
        self._up.callback(devices.__exit__, None, None, None)
        return devices

    def restart(self) -> None:
        self.devices.kill()
        self.devices = self._start()

    def status(self) -> dict[str, Any]:
        """Return the retained message about the table's state; empty if there is none.

        It uses a new connection, because a connection from before a broker's restart comes back
        late.
        """
        with Ear(self.stand.mosquitto.port, self._topic) as ear:
            found: list[dict[str, Any]] = [heard.json for heard in ear.on(self._topic)]
        return found[-1] if found else {}

    def comes_to(self, state: str, before: dict[str, Any] | None = None) -> None:

        def there() -> bool:
            status = self.status()
            if not status or status == before:
                return False
            return status["online"] is True and status["state"] == state

        eventually(there, within_s=BACK_WITHIN_S, what=f"{self.table} {state}")

    def kept(self) -> dict[str, Any]:
        with self.stand.redis.client() as store:
            meters: dict[bytes, bytes] = store.hgetall(KEYS.meters)
            return {
                "table": store.hget(KEYS.tables, self.table),
                "round": store.hget(KEYS.rounds, self.table),
                "replies": store.hmget(KEYS.replies, [*reply_fields(self.table)]),
                "accounts": store.hgetall(KEYS.accounts),
                "tallies": store.hgetall(KEYS.tallies),
                "waiting": store.zrange(KEYS.waiting, 0, -1),
                "closed": meters.get(b"closed"),
                "rounds": meters.get(b"rounds"),
                "cycle": meters[b"cycle:progressive"],
            }

    def __enter__(self) -> Self:
        self.comes_to("open")
        return self

    def __exit__(self, *_: object) -> None:
        self._up.close()


@contextmanager
def closed(seat: Seat) -> Iterator[None]:
    sue = Colleague(seat.stand.service.url, "Sue")
    assert sue.post("/api/v1/links/main/close", reason="the felt is changed").status_code == 200
    try:
        yield
    finally:
        sue = Colleague(seat.stand.service.url, "Sue")
        assert sue.post("/api/v1/links/main/open").status_code == 200


def lit(seat: Seat) -> str:
    eventually(lambda: seat.devices.wager(3)["ok"], within_s=BACK_WITHIN_S, what="a wager lit")
    return "open"


def locked(seat: Seat) -> str:
    lit(seat)
    seat.devices.play("lockout")
    return "locked"


def deal(seat: Seat, cards: str) -> None:
    locked(seat)
    seat.devices.play(f"chips 1; hand 3 {cards}; dealer 3h 8d Kc")


def held(seat: Seat) -> str:
    deal(seat, "As Ks Qs")
    seat.devices.say("settle")
    return "held"


def lock_and_play(seat: Seat) -> None:
    seat.devices.play(f"lockout; {PLAYED_OUT}")


def play_out(seat: Seat) -> None:
    seat.devices.play(PLAYED_OUT)


def decide(seat: Seat) -> None:
    service = seat.stand.service
    (claim,) = [row["claim"] for row in service.claims() if row["table"] == seat.table]
    service.decide(claim, "validate")
    service.decide(claim, "pay", slip=f"HP-{claim.replace('.', '-')}")


Bring = Callable[[Seat], str]
Finish = Callable[[Seat], None]
STATES: Final[dict[str, tuple[Bring, Finish, bool]]] = {
    "a wager lit": (lit, lock_and_play, False),
    "held for a hand pay": (held, decide, False),
    "a closed link with an open round": (locked, play_out, True),
}
"""Steps that lead to each state, how its round ends, and whether the link is closed in it."""


def kill_service(seat: Seat) -> None:
    seat.stand.service.process.kill()
    seat.stand.service.start()


def kill_redis(seat: Seat) -> None:
    seat.stand.redis.kill()
    seat.stand.redis.start()


def kill_broker(seat: Seat) -> None:
    seat.stand.mosquitto.kill()
    seat.stand.mosquitto.start()


def kill_everything(seat: Seat) -> None:
    seat.devices.kill()
    seat.stand.service.process.kill()
    kill_redis(seat)
    kill_broker(seat)
    seat.stand.service.start()
    seat.restart()


Kill = Callable[[Seat], None]
PARTS: Final = (kill_service, kill_redis, kill_broker, Seat.restart)


@pytest.mark.duty("D11", proof=True)
@pytest.mark.parametrize(
    ("name", "kills"),
    [
        pytest.param("a wager lit", (kill_everything,), id="all at once with a wager lit"),
        *(pytest.param(name, PARTS, id=name, marks=pytest.mark.slow) for name in STATES),
    ],
)
def test_whatever_is_killed_the_state_is_the_same_again(
    stand: Stand, name: str, kills: Sequence[Kill]
) -> None:
    """The round then ends as if nothing had happened, and its wager counts once."""
    bring, finish, is_closed = STATES[name]
    with Seat(stand) as seat, ExitStack() as stack:
        before_micros = -stand.account("main", f"table:{seat.table}".encode())
        state = bring(seat)
        if is_closed:
            stack.enter_context(closed(seat))
        seat.comes_to(state)
        kept = seat.kept()
        for kill in kills:
            status = seat.status() if kill not in {kill_service, kill_redis} else None
            kill(seat)
            eventually(stand.service.ready, within_s=BACK_WITHIN_S, what="the links back")
            seat.comes_to(state, before=status)
            assert seat.kept() == kept, kill
        finish(seat)
        stack.close()
        seat.comes_to("open")
        after_micros = -stand.account("main", f"table:{seat.table}".encode())
        assert after_micros - before_micros == ADDED_MICROS
    assert stand.service.audit()["balanced"]


@pytest.mark.duty("D11", proof=True)
@pytest.mark.slow
def test_a_result_on_its_way_arrives_once_whatever_is_killed(stand: Stand) -> None:
    """The service is down while the round is settled. Then each other part is killed in turn."""
    with Seat(stand) as seat:
        deal(seat, "2h 7d 9c")
        stand.service.process.kill()
        seat.devices.say("settle")
        seat.comes_to("settling")
        kept = seat.kept()
        for kill in (kill_redis, kill_broker, Seat.restart):
            status = seat.status() if kill is not kill_redis else None
            kill(seat)
            seat.comes_to("settling", before=status)
            assert seat.kept() == kept, kill
        stand.service.start()
        seat.comes_to("open")
        assert StoredTable(seat.kept()["table"]).state.last == 2
    assert stand.service.audit()["balanced"]
