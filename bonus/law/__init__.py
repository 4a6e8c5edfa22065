"""The law as data: chapters of 58 Pa. Code, their paytables, and the choices they leave to a table.

``chapter`` reads a file of ``chapters`` into the types of ``chapter_file``. ``paytable_checks`` and
``reference_checks`` check it completely. ``paytables`` has its printed tables, ``meter_terms`` the
terms of a meter, and ``choices`` checks what a table chooses.
"""
