"""Restore of a link's store from its ledger, and from later events in the tables' outboxes."""
