"""A second settlement, written from the three chapters alone, that the real one must agree with.

It settles every wager of all three games. A round stands for itself here: its meters are given, and
no store, reply or decision of a floorperson is in it. `tests.model` follows meters over time, and
books there what this settlement gives.
"""
