"""The state of the floor that displays show."""
