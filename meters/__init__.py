"""The central service: the tables' events, the meters, their ledger, the claims and the pages."""
