"""Comparison of Redis and the archive with the ledger, and the marks that audits leave."""
