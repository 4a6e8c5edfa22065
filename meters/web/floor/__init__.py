"""The floor page."""
