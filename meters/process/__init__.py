"""Common parts of every process of pitlink: signals, and files that only their owner can read."""
