"""Reports for accounting. A report covers a gaming day, a month, the wins, or the tables."""
