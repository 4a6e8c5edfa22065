"""The data that displays show: meters, heartbeats of the links, and wins."""
