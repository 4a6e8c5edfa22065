"""The rankings of 649a.6, 679a.6 and 682a.6: the hands that cards can form, and their order.

A wrong number of cards is a ValueError, except in ``three_card`` with ``counts``.
"""
