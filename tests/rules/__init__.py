"""Tests of the rules against the chapter, the readings and a recorded shift."""
