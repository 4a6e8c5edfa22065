"""Checks before a link operates and while it operates (D9, D10), and the state of a floor."""
