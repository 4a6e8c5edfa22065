"""Restore of a link's data in Redis, from the archived ledger and the tables' outboxes."""
