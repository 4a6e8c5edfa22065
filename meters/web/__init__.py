"""The service's pages, payout slips and API, with event streams, metrics and health probes."""
