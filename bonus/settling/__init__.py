"""Settlement of a round: checks of its wagers and cards, and its payouts.

Begin with ``settle_round``: it decodes a round from a line of JSON (``round_text``), and checks the
round against the rules of the casino table (``table_rules``, ``round_checks``). Then it settles the
round position by position (``settlement``, ``payouts``), with one step for each kind of wager
(``wagers_at_odds``, ``progressives_and_envy``).
"""
