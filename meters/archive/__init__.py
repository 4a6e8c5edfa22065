"""Archive of closed gaming days: files that outlive the system, and reads across them."""
