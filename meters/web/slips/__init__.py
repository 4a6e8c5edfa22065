"""The payout slip of a win, as a PDF."""
