"""Tests of the self-check: software, configuration, and its effects on a running service."""
