"""Odds: what is counted, the strategies, the edges, what is kept and what the command says."""
