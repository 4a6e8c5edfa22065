"""Closed gaming days in files that outlive the system, and what is read across them."""
