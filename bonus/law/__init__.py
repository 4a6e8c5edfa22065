"""The law as data: chapters of 58 Pa. Code, their paytables, and the choices of a casino table.

``games`` reads the files in ``chapters``, one for each chapter of the Code. ``chapter_file``
defines the structure of these files. ``paytable_checks`` and ``reference_checks`` check each file
completely. ``paytables`` reads the printed paytables of a file. ``meter_terms`` computes the
payouts, the seed and the rates of a meter. ``choices`` checks the choices that a casino table
makes.
"""
