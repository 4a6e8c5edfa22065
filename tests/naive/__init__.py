"""A second settlement, written from the three chapters alone, that the real one must agree with.

It alone settles every wager of all three games, Play, Ante and bonus wagers too. Each round stands
for itself: its meters are given, and no store, reply or decision of a floorperson is in it. Those
over time are `tests.model`'s.
"""
