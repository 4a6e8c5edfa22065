"""Tables of house games, played by bots: device events, the table's events, and the service."""

import random
from collections import Counter
from dataclasses import replace

import pytest
from redis.asyncio import Redis

from controllers.agent.delivery import encode_money_event
from controllers.bots.bots import DealerBot
from controllers.bots.resettlement import settle_again
from controllers.table.state import Layout
from meters.wire.messages import REPLY
from tests.controllers.floors import HandTable
from tests.controllers.test_bots import played_out
from tests.model.pit import Pit
from tests.model.test_house_games import FLOOR

ROUNDS = 60


@pytest.mark.slow
@pytest.mark.parametrize("table_id", ["T-1", "T-2", "T-3"])
async def test_a_bot_plays_a_house_game_and_both_settlements_agree(
    keeping_redis: Redis, table_id: str
) -> None:
    pit = Pit(keeping_redis, FLOOR)
    await pit.open()
    layout = Layout.of(pit.link, next(each for each in pit.link.table if each.id == table_id))
    table = HandTable(layout=layout)
    bot, seen = DealerBot(layout, random.Random(5), stack_every=4), Counter[str]()
    for _ in range(ROUNDS):
        sent = len(table.sent)
        played = played_out(table, bot)
        lines = None
        for event in table.sent[sent:]:
            payload = encode_money_event(event)
            answer = await pit.send(table_id, payload) or await pit.send(table_id, payload)
            assert answer is not None
            reply = REPLY.decode(answer)
            assert reply.status == "accepted", reply
            lines = reply.lines
            for claim in reply.claims or ():
                row = await pit.decide(claim.claim, "validate")
                if row.paid_from == "hand_pay":
                    await pit.decide(claim.claim, "pay")
        if played.record is not None and lines is not None:
            again = settle_again(replace(played.record, lines=tuple(lines)), {})
            assert again.same, again
            seen.update(line.outcome.value for line in lines)
    assert seen["paid"]
    assert seen["collected"] > ROUNDS // 2
    assert (await pit.audit()).balanced
