"""Reports for accounting: of a gaming day, of a month, of the wins, and of the tables."""
