"""Log setup, log options and throttled warnings."""
