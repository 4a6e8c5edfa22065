"""The central service: what the tables say, the meters, their ledger, claims and pages."""
