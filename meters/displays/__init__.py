"""The state that displays show."""
