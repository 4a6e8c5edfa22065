"""The central service: events of tables, meters, ledgers, claims and pages."""
