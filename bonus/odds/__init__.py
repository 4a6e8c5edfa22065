"""Exact odds of every wager, from a full enumeration of the deals.

``hand_counts`` and ``dealer_duels`` count hands over the whole deck. ``strategy`` finds the optimal
strategy of a main game (the game against the dealer) for each hand, and ``strategy_text`` describes
it. ``wager_odds``, ``meter_edges`` and ``main_edges`` compute the house edges as exact fractions,
in the structure of ``odds_entries``.
"""
