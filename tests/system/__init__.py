"""Tests of whole machines: what an operator installs, on a real systemd."""
