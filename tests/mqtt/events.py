"""Table events as plain dictionaries and bytes, written from the contract without our code."""

import json
from typing import Any, Final

AT: Final = "2026-11-20T02:14:07.250Z"

Event = dict[str, Any]


def encode(event: object) -> bytes:
    return json.dumps(event).encode()


def wagers(seq: int, round_id: str = "R1", **changes: object) -> Event:
    return {
        "seq": seq,
        "at": AT,
        "type": "wagers",
        "round": round_id,
        "positions": [{"position": 3, "patron": "p3", "wagers": {"progressive": 100}}],
        **changes,
    }


def result(seq: int, round_id: str = "R1", **changes: object) -> Event:
    """Return a good `result` event of that round, in which nobody wins anything."""
    return {
        "seq": seq,
        "at": AT,
        "type": "result",
        "round": round_id,
        "positions": [
            {"position": 3, "patron": "p3", "cards": ["2h", "7d", "9c"], "folded": False}
        ],
        "dealer": ["3h", "8d", "Kc"],
        **changes,
    }


def void(seq: int, round_id: str = "R1", **changes: object) -> Event:
    return {"seq": seq, "at": AT, "type": "void", "round": round_id, "reason": "misdeal", **changes}
