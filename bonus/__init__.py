"""The rules of play, pure: cards, hands, paytables, settlement and odds of 58 Pa. Code.

A chapter's file (``chapters``) is read and checked (``chapter``); with a table's choices it becomes
the rules of that table (``table_rules``), by which a round is checked (``checks``) and settled
(``settlement``). ``settle`` is the door for rounds as lines of JSON. ``odds`` counts every deal.

The ground floor of the house. Nothing in here reads a clock, a socket or a random source; the
commands alone read standard input and write standard output.
"""
