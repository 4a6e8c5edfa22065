"""Users with roles and PINs, their sessions, and the operators' log."""
