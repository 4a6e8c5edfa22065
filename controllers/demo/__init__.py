"""The demonstration: a complete simulated floor from one command, with all its pages."""
