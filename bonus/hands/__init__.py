"""The rankings of 649a.6, 679a.6 and 682a.6: the hands that cards can form, and their order.

Another number of cards than a hand of the ranking has is refused with ValueError.
"""
