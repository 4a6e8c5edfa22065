"""The books of a link in Redis: scripts, store, ledger, and the audit of the ledger."""
