"""Settlement of a round: checks of its wagers and cards, and its payouts.

``settle`` is the entry point. It decodes a round from a line of JSON (``round_text``). It checks
the round against the rules of the casino table (``table_rules``, ``round_checks``). It settles the
round position by position (``settlement``, ``payouts``).

Settlement has one step for each kind of wager. The steps are in ``main_wagers``,
``optional_wagers``, ``progressives`` and ``hand_bonus``. If a round wins percentages of meters,
``meter_holdings`` subtracts these percentages from the meters.
"""
