"""One process of the meter service: its links, its messages, audits and outages."""
