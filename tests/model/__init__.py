"""Tests of a link's books against a second set of books and against the readings."""
