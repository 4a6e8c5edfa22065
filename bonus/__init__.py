"""The rules of play of 58 Pa. Code: cards, hands, paytables, settlement and odds.

``rounds`` has a round and the lines of its settlement. ``hands`` ranks cards, and ``law`` has the
chapters of the Code as data. ``settling`` settles a round under the chapter of its game. ``odds``
counts every possible deal and computes the house edges.

The code here imports no other package of this project, and reads no clock, socket or random source.
"""
