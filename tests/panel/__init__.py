"""Tests of the dealer's panel: its content, its access control, and its use in a real browser."""
