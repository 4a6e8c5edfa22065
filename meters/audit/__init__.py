"""Comparison of Redis with the ledger, and the marks and notes that audits leave."""
