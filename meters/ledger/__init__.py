"""What follows from a link's ledger, calculated without Redis.

These are the transfers, the states of claims, and the rows that Redis must hold.
"""
