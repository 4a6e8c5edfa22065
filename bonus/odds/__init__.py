"""Exact odds of every wager, from a full enumeration of the deals.

``hand_counts`` and ``dealer_duels`` count hands over the whole deck. ``wager_odds``,
``meter_edges`` and ``main_edges`` compute the house edges as exact fractions (``odds_entries``).
The edges of a main game (the game against the dealer) are for the optimal strategy, which
``strategy_text`` puts into words.
"""
