"""Odds for people and for the disk: tables, plots and the cache of counts."""
