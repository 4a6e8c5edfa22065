"""A second settlement, written only from the three chapters. The real one must agree with it.

It settles every wager of all three games. A round here has no store, reply or floorperson: its
meters are given. `tests.model` follows meters over time, and books the lines that this settlement
returns.
"""
