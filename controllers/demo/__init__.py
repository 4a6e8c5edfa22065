"""The demonstration: a whole simulated floor from one command, with a page for everybody."""
