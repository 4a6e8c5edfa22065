"""The payout slip of a win."""
