"""The payout slip."""
