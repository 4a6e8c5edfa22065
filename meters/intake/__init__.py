"""The way of a table's event: read, judged, applied in a batch, answered."""
