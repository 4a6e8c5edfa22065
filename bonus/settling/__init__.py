"""Settlement of a round: checks of its wagers and cards, and its payouts.

``settle`` is the entry point. It decodes a round from a line of JSON (``round_text``), checks it
against the rules of the casino table (``table_rules``, ``round_checks``), and settles it position
by position (``settlement``, ``payouts``), with one step for each kind of wager
(``wagers_at_odds``, ``progressives``).
"""
