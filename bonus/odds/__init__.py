"""Exact odds of every wager, from a full enumeration of the deals.

``suit_classes``, ``hand_counts`` and ``dealer_duels`` count hands over the whole deck. ``strategy``
finds the optimal strategy of a main game for each hand, and ``strategy_text`` describes it. Edges
are exact fractions (``optional_edges``, ``meter_edges``, ``main_edges``). ``odds_entries`` defines
the results.
"""
