"""Tests of the processes' logs, and of following one event through them."""
