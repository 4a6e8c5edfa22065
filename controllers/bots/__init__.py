"""Dealer bots: simulated tables."""
