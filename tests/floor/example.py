"""A floor file that uses everything once, to be damaged line by line."""

from pathlib import Path
from typing import Final

SHIPPED: Final = Path(__file__).parents[2] / "deploy" / "floor.toml"

FLOOR: Final = """\
[facility]
name = "Test House"
timezone = "America/New_York"
validate_from = 0

[service]
broker = "mqtt://pit:s3cret@10.0.0.7:1883"
redis = "redis://10.0.0.8:6379/0"
http = "127.0.0.1:8080"
data = "pitlink-data"

[[link]]
id = "one"
name = "One Dollar"

[[link.meter]]
kind = "progressive"
wager = 100
paytable = "A"

[[link.meter]]
kind = "five_card_hand_bonus"
id = "bonus"
wager = 250
magic_card_every = 24
lucky_every = 12

[[link.meter]]
kind = "progressive"
id = "high"
wager = 500
paytable = "B"

[[link.table]]
id = "T-1"
asset = "1001"
game = "three_card_poker"
positions = 7
meters = ["progressive", "bonus"]
paytables = { ante_bonus = "c-A", pair_plus = "C", version = 2 }

[[link.table]]
id = "T-2"
asset = "1002"
game = "four_card_prime"
positions = 6
paytables = { bad_beat = "A", payout_limit = 5000000 }

[[link]]
id = "two"
name = "Another"
meter = [
  { kind = "five_card_progressive", wager = 500 },
  { kind = "five_of_six_progressive", wager = 100 },
]

[[link.table]]
id = "T-3"
asset = "1003"
game = "three_card_poker"
positions = 6
meters = [
  "five_card_progressive",
  "five_of_six_progressive",
]
paytables = { mini_royal = { ante_bonus = 5, pair_plus = 40 } }

[signage]
title = "Jackpots"
theme = "gold"
logo = "logo.svg"
rotate = "fit"
rotate_seconds = 12
celebrate_from = 2500

[signage.wording]
jackpot = "Jackpot"
pending = "Pending verification"
validated = "Validated"
closed = "Closed"
unavailable = "Temporarily unavailable"
foot = "Play responsibly"
"""
