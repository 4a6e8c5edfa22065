"""Exact odds of every wager, by full enumeration of the deals.

Hands are counted over the whole deck (``classes``, ``counts``, ``duels``), the optimal strategy of
a main game is found hand by hand (``strategy``) and told in words (``words``), and edges are
fractions (``optional_edges``, ``meter_edges``, ``main_edges``). ``entries`` says what is told.
"""
