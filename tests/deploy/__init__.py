"""Tests of deploy/: its files are accepted by the tools that read them, and they work."""
