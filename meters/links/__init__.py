"""Links and meters: people open and close links, and two people change a meter together."""
