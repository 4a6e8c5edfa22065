"""The tests of the house, by room."""
