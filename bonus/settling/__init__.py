"""Settling a round: what was wagered and dealt, whether it can have been, and what it pays.

``settle`` is the door: a line of JSON is read (``round_text``), checked against the rules of its
table (``table_rules``, ``checks``) and settled position by position (``settlement``, ``turns``), by
one step for each kind of wager: ``main_wagers``, ``optional_wagers``, ``progressives``,
``hand_bonus``. What that takes off a meter is carried out by ``holdings``.
"""
