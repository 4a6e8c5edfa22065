"""Archive of closed gaming days: files that people can read without pitlink."""
