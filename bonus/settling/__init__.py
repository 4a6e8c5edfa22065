"""Settlement of a round: checks of its wagers and cards, and its payouts.

``settle_round`` is the entry: it decodes a round from a line of JSON (``round_text``), checks it
against the rules of the casino table (``table_rules``, ``round_checks``), and settles
it position by position (``settlement``, ``payouts``), with one step for each kind of wager
(``wagers_at_odds``, ``progressives_and_envy``).
"""
