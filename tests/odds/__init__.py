"""Tests of the odds: counts, strategies, edges, the cache and the command."""
