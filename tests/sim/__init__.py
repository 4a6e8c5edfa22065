"""A whole floor in one process, its clock, network, disks and Redis at the mercy of a seed."""
