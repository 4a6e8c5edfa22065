"""A link's data in Redis, its ledger mark outside Redis, and the approval of the floor file."""
