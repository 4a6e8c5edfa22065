"""Common parts of all of pitlink's programs: signals, and files that only their owner can read."""
