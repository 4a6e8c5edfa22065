"""The rules of play of 58 Pa. Code: cards, hands, paytables, settlement and odds.

``hands`` ranks cards. ``law`` has the chapters of the Code as data. ``settling`` settles a round
under the chapter of its game. ``odds`` counts every possible deal and computes the house edges.

All code here is pure. It imports no other package of this project. It reads no clock, socket or
random source.
"""
