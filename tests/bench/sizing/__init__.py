"""Measured size of a floor: `python -m tests bench --sizing`."""
