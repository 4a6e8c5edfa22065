"""One process of the meter service: its links and their messages, audits and outages."""
