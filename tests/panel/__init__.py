"""The dealer's panel: what it shows, whom it lets in, and how it is used in a real browser."""
