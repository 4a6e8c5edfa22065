"""A link's store made again: from its ledger, and from what the tables' outboxes have beyond it."""
