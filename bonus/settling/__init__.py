"""Settlement of a round: checks of its wagers and cards, and its payouts.

``settle`` is the entry point. It decodes a round from a line of JSON (``round_text``). It checks
the round against the rules of the casino table (``table_rules``, ``round_checks``). It settles the
round position by position (``settlement``, ``payouts``).

Each kind of wager is one step of settlement: ``main_wagers``, ``optional_wagers``,
``progressives``, ``hand_bonus``. ``meter_holdings`` subtracts the percentages that are won from the
meters.
"""
