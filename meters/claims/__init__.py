"""Claims: floorpersons validate, reject and pay wins."""
