"""A Redis that has replicas: where its primary is, and that what is answered outlives it."""
