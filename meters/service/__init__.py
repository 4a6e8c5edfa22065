"""One process of the meter service: links, announcements, audits and outages."""
