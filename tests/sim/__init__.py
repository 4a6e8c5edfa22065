"""A whole floor in one process. A seed controls its clock, network, disks and Redis."""
