"""The self-check: what is looked at before a link operates, and while it does (duties D9, D10)."""
