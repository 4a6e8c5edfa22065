"""One process of the service: its links and their messages, audits and outages."""
