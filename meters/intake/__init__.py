"""Intake of table events: they are decoded, validated, applied in a batch, and answered."""
