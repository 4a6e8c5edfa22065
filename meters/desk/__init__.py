"""The desks: what floorpersons decide, and what supervisors change, each act once."""
