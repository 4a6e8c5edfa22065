"""The rules of play of 58 Pa. Code: cards, hands, paytables, settlement and odds.

``hands`` ranks cards, ``law`` has the chapters as data, ``settling`` settles rounds under them, and
``odds`` counts every deal.

All code here is pure. It imports no other package of this project, and it reads no clock, socket or
random source.
"""
