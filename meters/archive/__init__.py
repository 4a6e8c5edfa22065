"""Archive of closed gaming days: files that people can read even without pitlink."""
