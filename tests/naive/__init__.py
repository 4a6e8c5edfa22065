"""A second settlement, written from the three chapters alone, that the real one must agree with."""
