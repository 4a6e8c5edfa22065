"""A game file of the house before it has a floor: its first text, and rounds to try it."""
