"""The law as data: chapters of 58 Pa. Code, their paytables, and what a table may choose of them.

A chapter's file in ``chapters`` is read (``chapter``) into its ``parts`` and checked whole
(``checking``); its printed tables are ``paytables``, those of a meter with its ``meter_terms``.
"""
