"""Keys of a floor: credentials for the broker and for Redis."""
