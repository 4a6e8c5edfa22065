"""Bad input to every parser that reads from outside, and tables that flood."""
