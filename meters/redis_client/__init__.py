"""Redis clients. They connect, find the primary, and wait until replicas have the data."""
