"""The books of a link, held against a second set and against the readings."""
