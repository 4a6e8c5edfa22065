"""Intake of table events. Events are decoded, validated, applied in batches, and answered."""
