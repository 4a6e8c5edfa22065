"""Tests of what is under deploy/: that it is accepted by the tools that read it, and that it runs."""
