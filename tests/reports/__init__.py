"""Tests of the reports: against independent sums, the audit, and the printed page."""
