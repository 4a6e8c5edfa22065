"""What accounting reads of the books: a gaming day, a month, the wins, the tables."""
