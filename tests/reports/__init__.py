"""Reports held to sums of their own, to the audit, and to the paper they are printed on."""
