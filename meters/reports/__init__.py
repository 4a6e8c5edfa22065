"""Reports for accounting: a gaming day, a month, the wins, the tables."""
