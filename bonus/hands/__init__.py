"""The rankings of 649a.6, 679a.6 and 682a.6: the hands that cards can form, and their order.

A function raises ValueError if the number of cards does not fit the ranking.
"""
