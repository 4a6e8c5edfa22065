"""Tests of the benchmark: that it works and counts right, never how fast anything is."""
