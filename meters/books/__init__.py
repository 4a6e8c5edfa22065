"""The books of a link in Redis: scripts, store, ledger and its audit."""
