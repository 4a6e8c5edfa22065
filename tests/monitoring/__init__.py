"""Tests of the metrics for Prometheus, the alerts and the dashboards."""
