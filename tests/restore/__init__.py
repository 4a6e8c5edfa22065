"""Tests of restoring a store that was lost."""
