"""Reports for accounting about a gaming day, a month, the wins, or the tables."""
