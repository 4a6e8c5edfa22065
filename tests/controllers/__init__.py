"""Tests of the table side."""
