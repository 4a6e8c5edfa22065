"""The self-check: checks before a link operates, and while it does (duties D9, D10)."""
