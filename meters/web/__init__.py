"""The web side of the meter service: its pages, payout slips and API.

The event streams, the metrics and the health probes are parts of the API.
"""
