"""The public contract, version 1: every topic, its flags, and the exact form of each message."""

import itertools
import re
from datetime import datetime
from typing import Any, Final

import pytest

from tests.mqtt.events import encode, result, void, wagers
from tests.mqtt.stand import Asker, Stand
from tests.mqtt.stranger import Ear, Heard, publish_all
from tests.servers import Pitlink, eventually

METER: Final = {"meter", "amount", "version", "cycle", "state", "at"}
CONTROLLER: Final = {"state", "reason", "beat", "at"}
JACKPOT: Final = {
    "event", "claim", "meter", "table", "position", "item", "hand", "amount", "meter_after", "at",
}  # fmt: skip
LINE: Final = {"position", "item", "outcome", "wagered", "paid", "returned", "rule"}
MOMENT: Final = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
SPADES: Final = ["As", "Ks", "Qs"]
BEAT_S: Final = 1.0
COALESCE_S: Final = 0.1
EVENTS: Final = 100


@pytest.fixture
def stand(drawing: Stand) -> Stand:
    return drawing


def hand(position: int, cards: list[str]) -> dict[str, Any]:
    return {"position": position, "patron": f"p{position}", "cards": cards, "folded": False}


def win_the_meter(table: Asker, seq: int) -> dict[str, Any]:
    """Play a round whose mini-royal in spades wins 100% of the Progressive; return the reply."""
    table.accept(wagers(seq, f"R{seq}"))
    return table.ask(result(seq + 1, f"R{seq}", positions=[hand(3, SPADES)]))


def since(ear_before: int, stand: Stand, topic: str) -> list[Heard]:
    return stand.ear.on(topic)[ear_before:]


def seconds_of(beats: list[dict[str, Any]]) -> float:
    first, last = (datetime.fromisoformat(beats[at]["at"]) for at in (0, -1))
    return (last - first).total_seconds()


def money(books: dict[str, Any]) -> dict[str, Any]:
    return {link: (of["accounts"], of["tallies"]) for link, of in books.items()}


class TestReplies:
    @pytest.mark.section("649a.13")
    def test_of_a_session(self, table: Asker) -> None:
        """Each reply has its exact fields; a hello is answered with the table's position."""
        hello = {"type": "hello", "at": "2026-11-20T02:14:07Z"}
        assert table.ask({"type": "hello"}) == {"type": "hello", "last_seq": 0, "open_round": None}
        # `draw` is null if no Five Card Hand Bonus was wagered.
        assert table.ask(wagers(1)) == {"seq": 1, "status": "accepted", "draw": None}
        assert table.ask(hello) == {"type": "hello", "last_seq": 1, "open_round": "R1"}
        lost = {
            "position": 3, "item": "progressive", "outcome": "collected", "wagered": 100,
            "paid": 0, "returned": 0,
        }  # fmt: skip
        reply = table.ask(result(2))
        (line,) = reply.pop("lines")
        assert reply == {"seq": 2, "status": "accepted", "claims": []}
        assert line.keys() == LINE | {"hand"}
        assert lost.items() <= line.items()
        assert table.ask(hello) == {"type": "hello", "last_seq": 2, "open_round": None}
        # A hand that wins nothing is not named, and its wager is never paid.
        table.accept(wagers(3, "R3"))
        reply = table.ask(result(4, "R3", positions=[{"position": 3, "no_win": True}]))
        (line,) = reply.pop("lines")
        assert reply == {"seq": 4, "status": "accepted", "claims": []}
        assert line.keys() == LINE
        assert lost.items() <= line.items()
        table.accept(wagers(5, "R5"))
        assert table.ask(void(6, "R5")) == {"seq": 6, "status": "accepted"}

    @pytest.mark.reading("T19")
    @pytest.mark.reading("T20")
    def test_to_wagers_with_a_draw_that_a_repeat_repeats(self, table: Asker) -> None:
        """The draw is made once, however often the event arrives."""
        event = wagers(1, positions=[{"position": 1, "wagers": {"five_card_hand_bonus": 200}}])
        first = table.hear(event)
        reply = first.json
        assert reply.keys() == {"seq", "status", "draw"}
        assert reply["draw"].keys() == {"magic_card", "lucky_position"}
        assert re.fullmatch("[2-9TJQKA][cdhs]", reply["draw"]["magic_card"])
        assert reply["draw"]["lucky_position"] in {1, 2, 3, 4, 5, 6, "dealer"}
        assert [table.hear(event).payload for _ in range(5)] == [first.payload] * 5

    @pytest.mark.section("649a.12(e)(1)")
    def test_to_a_result_with_wins(self, table: Asker) -> None:
        """A claim has its four fields. The line of a win names it and the source of its payment."""
        table.accept(
            wagers(
                1,
                positions=[
                    {"position": 5, "wagers": {"progressive": 100}},
                    {"position": 2, "wagers": {"progressive": 100}},
                ],
            )
        )
        reply = table.ask(result(2, positions=[hand(2, ["7h", "9d", "2c"]), hand(5, SPADES)]))
        first, second, third = reply["lines"]
        assert [line["position"] for line in reply["lines"]] == [5, 2, 2]
        assert first.keys() == LINE | {"hand", "paid_from", "percent"}
        assert (first["paid_from"], first["percent"]) == ("hand_pay", 100)
        by_item = {line["item"]: line for line in (second, third)}
        assert by_item["progressive_envy"].keys() == LINE | {"hand", "paid_from", "envy_of"}
        assert by_item["progressive_envy"]["envy_of"] == 5
        (claim,) = [claim for claim in reply["claims"] if claim["item"] == "progressive"]
        assert claim.keys() == {"claim", "position", "item", "amount"}
        assert (claim["position"], claim["amount"]) == (5, first["paid"])
        assert all(isinstance(line["paid"], int) for line in reply["lines"])

    def test_repeats_are_byte_for_byte_even_from_a_new_service(
        self, stand: Stand, table: Asker
    ) -> None:
        """This holds for every kind of reply, and nothing counts again."""
        bonus = {"progressive": 100, "five_card_hand_bonus": 200}
        events = [
            wagers(1, positions=[{"position": 3, "wagers": bonus}]),
            result(2, positions=[hand(3, SPADES)], community=["4s", "Jd"]),
            wagers(3, tip=1),
            wagers(4, "R4"),
            void(5, "R4"),
            void(6, "R4"),
        ]
        first = [table.hear(event).payload for event in events]
        books = stand.books()
        assert [table.hear(event).payload for event in events] == first
        stand.service.process.kill()
        stand.service.start()
        assert [table.hear(event).payload for event in events] == first
        assert stand.books()["main"]["accounts"] == books["main"]["accounts"]
        assert stand.books()["main"]["entries"] == books["main"]["entries"]

    def test_flags(self, stand: Stand, table: Asker) -> None:
        """Replies have QoS 0 and are not retained."""
        for event in (wagers(1), wagers(2, tip=1), wagers(9), {"type": "hello"}):
            assert table.hear(event).qos == 0
        with Ear(stand.mosquitto.port, table.into, table.out) as late:
            assert [one for one in late.messages if one.topic in {table.into, table.out}] == []


class TestMeters:
    def test_each_is_retained_with_its_exact_fields(self, stand: Stand) -> None:
        """A new subscriber immediately receives the current value."""
        with Ear(stand.mosquitto.port, "pitlink/v1/+/meter/+") as late:
            heard_at_once = [one for one in late.messages if one.retained]
        found = {one.topic: one for one in heard_at_once}
        assert found.keys() == {
            "pitlink/v1/main/meter/progressive",
            "pitlink/v1/main/meter/five_card_progressive",
            "pitlink/v1/main/meter/five_of_six_progressive",
            "pitlink/v1/main/meter/five_card_hand_bonus",
            "pitlink/v1/other/meter/progressive",
        }
        for topic, heard in found.items():
            value = heard.json
            assert (heard.qos, heard.retained) == (1, True)
            assert value.keys() == METER
            assert topic.endswith(f"/meter/{value['meter']}")
            assert value["state"] in {"open", "pending"}
            assert MOMENT.fullmatch(value["at"])
            for name in ("amount", "version", "cycle"):
                assert type(value[name]) is int

    def test_it_says_what_the_pages_say_and_its_version_only_rises(
        self, stand: Stand, table: Asker
    ) -> None:
        """This holds over contributions and a void."""
        topic = "pitlink/v1/main/meter/progressive"
        for seq in range(1, 9, 2):
            table.accept(wagers(seq, f"R{seq}"), void(seq + 1, f"R{seq}"))
        stand.books()
        row = stand.service.meter("main", "progressive")
        last = eventually(
            lambda: next(
                (one.json for one in stand.ear.on(topic) if one.json["version"] == row["version"]),
                None,
            ),
            what="the last value published",
        )
        assert {name: row[name] for name in METER} == last
        versions = [heard.json["version"] for heard in stand.ear.on(topic)]
        assert all(one <= other for one, other in itertools.pairwise(versions))

    @pytest.mark.duty("D6", proof=True)
    @pytest.mark.section("649a.12(e)(3)")
    def test_many_events_are_published_coalesced_and_the_last_one_always(
        self, stand: Stand
    ) -> None:
        """Far fewer messages than events, about one in 100 ms; the last has the final amount."""
        tables = [stand.table() for _ in range(EVENTS)]
        topic, key = "pitlink/v1/main/meter/progressive", b"meter:progressive"
        before = stand.books()["main"]["accounts"]
        heard_before = len(stand.ear.on(topic))
        # Several events are sent together, because a connection for each may need longer than the
        # interval of messages.
        for few in (tables[first : first + 10] for first in range(0, EVENTS, 10)):
            publish_all(stand.mosquitto.port, [(table.out, encode(wagers(1))) for table in few])
            for table in few:
                assert stand.ear.next_on(table.into).json["status"] == "accepted"
        after = stand.books()["main"]["accounts"]
        assert int(after[key]) - int(before[key]) == EVENTS * 100 * 1400

        final = stand.service.meter("main", "progressive")
        eventually(
            lambda: stand.ear.on(topic)[-1].json["version"] == final["version"],
            what="the last value published",
        )
        values = since(heard_before, stand, topic)
        assert values[-1].json["amount"] == int(after[key]) // 10_000
        moments = [datetime.fromisoformat(value.json["at"]) for value in values]
        elapsed_s = (moments[-1] - moments[0]).total_seconds()
        # The heartbeat also publishes, once a second, what others changed.
        assert len(values) <= elapsed_s / COALESCE_S + elapsed_s / BEAT_S + 2
        assert len(values) < EVENTS / 2


class TestController:
    def test_it_beats_every_second_and_is_retained(self, stand: Stand) -> None:
        """Each heartbeat has a higher number than the one before. Each link has its own numbers."""
        topic = "pitlink/v1/main/controller"
        before = len(stand.ear.on(topic))

        def in_time() -> list[dict[str, Any]]:
            """Return five heartbeats in a row that are a second apart, if there are any."""
            beats = [one.json for one in since(before, stand, topic)]
            rows = (beats[first : first + 5] for first in range(len(beats) - 4))
            return next((row for row in rows if 3.0 <= seconds_of(row) <= 6.0), [])

        beats = eventually(in_time, what="five beats")
        for beat in beats:
            assert beat.keys() == CONTROLLER
            assert (beat["state"], beat["reason"]) == ("operable", "")
            assert MOMENT.fullmatch(beat["at"])
        numbers = [beat["beat"] for beat in beats]
        assert all(one < other for one, other in itertools.pairwise(numbers))
        with Ear(stand.mosquitto.port, "pitlink/v1/+/controller") as late:
            retained = {one.topic for one in late.messages if one.retained and one.qos == 1}
        assert retained == {topic, "pitlink/v1/other/controller"}

    @pytest.mark.duty("D14", proof=True)
    def test_without_its_store_it_is_inoperable_on_every_topic_and_comes_back(
        self, stand: Stand, table: Asker
    ) -> None:
        """It reports the reason, answers no event, and marks the meters. Then all is as before."""
        table.accept(wagers(1))
        before = stand.books()
        topic, meter = "pitlink/v1/main/controller", "pitlink/v1/main/meter/progressive"
        stand.redis.kill()
        eventually(lambda: stand.ear.on(topic)[-1].json["state"] == "inoperable", what="inoperable")
        assert "Redis" in stand.ear.on(topic)[-1].json["reason"]
        eventually(lambda: stand.ear.on(meter)[-1].json["state"] == "inoperable", what="meter")
        assert stand.service.meter("main", "progressive")["state"] == "inoperable"
        answered = len(stand.ear.on(table.into))
        table.publish(void(2))
        beats = len(stand.ear.on(topic))
        eventually(lambda: len(stand.ear.on(topic)) > beats + 1, what="two more beats")
        assert len(stand.ear.on(table.into)) == answered

        stand.redis.start()
        eventually(stand.service.ready, what="ready again")
        eventually(lambda: stand.ear.on(topic)[-1].json["state"] == "operable", what="operable")
        eventually(lambda: stand.ear.on(meter)[-1].json["state"] != "inoperable", what="meter")
        # The ledger has one more entry, which says that the link was inoperable.
        assert money(stand.books()) == money(before)
        assert table.ask(void(2)) == {"seq": 2, "status": "accepted"}


class TestJackpots:
    TOPIC: Final = "pitlink/v1/main/jackpot"

    def heard_of(self, stand: Stand, claim: str) -> list[Heard]:
        return [one for one in stand.ear.on(self.TOPIC) if one.json["claim"] == claim]

    def wait_for_jackpot(self, stand: Stand, claim: str, event: str) -> dict[str, Any]:
        heard = eventually(
            lambda: [one for one in self.heard_of(stand, claim) if one.json["event"] == event],
            what=f"{claim} {event}",
        )[0]
        assert (heard.qos, heard.retained) == (1, False)
        found: dict[str, Any] = heard.json
        assert found.keys() == JACKPOT
        assert MOMENT.fullmatch(found["at"])
        return found

    @pytest.mark.section("649a.11(c)(5)(iii)")
    @pytest.mark.reading("T15")
    def test_hit_validated_paid(self, stand: Stand, table: Asker) -> None:
        """The first comes immediately, the others with decisions. Until then it is pending.

        A hello brings the final decision again, for a table that missed it, and no waiting claim.
        """
        for waiting in stand.service.claims():
            stand.service.decide(waiting["claim"], "reject", reason="of another test")
        cycle = stand.service.meter("main", "progressive")["cycle"]
        (won,) = win_the_meter(table, 1)["claims"]
        claim = won["claim"]
        hit = self.wait_for_jackpot(stand, claim, "hit")
        assert (hit["meter"], hit["table"], hit["position"]) == ("progressive", table.table, 3)
        assert (hit["item"], hit["amount"]) == ("progressive", won["amount"])
        assert hit["meter_after"] == 100_000
        stand.books()
        row = stand.service.meter("main", "progressive")
        assert (row["state"], row["cycle"]) == ("pending", cycle + 1)
        assert table.hello() == table.hello() == (2, None)
        assert [one.json["event"] for one in self.heard_of(stand, claim)] == ["hit"]

        stand.service.decide(claim, "validate")
        validated = self.wait_for_jackpot(stand, claim, "validated")
        stand.books()
        assert stand.service.meter("main", "progressive")["state"] == "open"
        stand.service.decide(claim, "pay", slip="HP-1")
        paid = self.wait_for_jackpot(stand, claim, "paid")
        assert table.hello() == (2, None)
        eventually(lambda: len(self.heard_of(stand, claim)) == 4, what="the decision again")
        again = self.heard_of(stand, claim)[-1].json
        assert again["event"] == "paid"
        for later in (validated, paid, again):
            same = JACKPOT - {"event", "at", "meter_after"}
            assert {name: later[name] for name in same} == {name: hit[name] for name in same}

    def test_rejected(self, stand: Stand, table: Asker) -> None:
        """The amount goes back to the meter, and `meter_after` says so."""
        (won,) = win_the_meter(table, 1)["claims"]
        hit = self.wait_for_jackpot(stand, won["claim"], "hit")
        stand.service.decide(won["claim"], "reject", reason="two cards stuck together")
        rejected = self.wait_for_jackpot(stand, won["claim"], "rejected")
        assert rejected["amount"] == hit["amount"]
        assert rejected["meter_after"] == hit["meter_after"] + hit["amount"]


class TestStatus:
    def test_an_agent_is_online_and_its_last_will_says_offline(self, stand: Stand) -> None:
        """The status is retained. The broker publishes the last will of a killed agent."""
        table = stand.table()
        topic = f"pitlink/v1/main/table/{table.table}/status"
        command = ("table", table.table, "--config", str(stand.service.config), "--events")
        with Pitlink(*command, stdin=True) as agent:
            agent.until(
                lambda: (found := stand.ear.on(topic)) and found[-1].json["state"] == "open",
                what="the table open",
            )
            status = stand.ear.on(topic)[-1]
            assert status.qos == 1
            assert status.json.keys() == {"online", "state", "at"}
            assert status.json["online"] is True
            eventually(
                lambda: stand.service.counted("pitlink_tables_online", link="main") == 1,
                what="the table counted as online",
            )
            agent.kill()
        eventually(lambda: not stand.ear.on(topic)[-1].json["online"], what="offline")
        gone = stand.ear.on(topic)[-1].json
        assert gone["state"] == "offline"
        eventually(
            lambda: stand.service.counted("pitlink_tables_online", link="main") == 0,
            what="the table counted out",
        )
        with Ear(stand.mosquitto.port, topic) as late:
            (retained,) = late.on(topic)
        assert (retained.qos, retained.retained, retained.json) == (1, True, gone)
