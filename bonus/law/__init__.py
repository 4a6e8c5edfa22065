"""The law as data: chapters of 58 Pa. Code, their paytables, and the choices of a casino table.

``games`` reads the files in ``chapters``, one for each chapter; ``chapter_file`` has their
structure. ``paytable_checks`` and ``reference_checks`` check each file completely.
``paytables`` reads printed paytables, ``meter_terms`` computes payouts, seed and rates of a meter,
and ``choices`` checks the choices of a casino table.
"""
