"""Installation of a floor on a machine: configuration files, keys, and the start of the units."""
