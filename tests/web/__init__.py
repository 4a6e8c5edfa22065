"""The web side: the API over real HTTP, and the signage page in a real browser."""
