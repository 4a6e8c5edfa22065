"""The web side of the meter service: its pages, payout slips and API.

The API also has the event streams, the metrics and the health probes.
"""
