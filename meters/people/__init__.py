"""Who works on the floor: users with roles and PINs, their sessions, and the operators' log."""
