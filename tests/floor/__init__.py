"""Tests of the floor file: refusals with line and reason, and the commands that use it."""
