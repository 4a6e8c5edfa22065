"""Settlement of a round: its wagers and cards, the checks of them, and the payouts.

``settle`` is the entry point. It reads a line of JSON (``round_text``), checks it against the rules
of its table (``table_rules``, ``round_checks``), and settles it position by position
(``settlement``, ``payouts``). Each kind of wager is one step: ``main_wagers``, ``optional_wagers``,
``progressives``, ``hand_bonus``. ``meter_holdings`` takes the percentages off the meters.
"""
