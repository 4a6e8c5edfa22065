"""The rules of play, pure: cards, hands, paytables, settlement and odds of 58 Pa. Code.

Its rooms: ``hands`` ranks cards, ``law`` has the chapters as data, ``settling`` settles rounds by
them, ``odds`` counts every deal.

The ground floor of the house. Nothing in here reads a clock, a socket or a random source; the
commands alone read standard input and write standard output.
"""
