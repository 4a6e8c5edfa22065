"""The self-check: checks before a link operates, and while it operates (duties D9, D10)."""
