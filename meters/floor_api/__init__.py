"""Types and protocols of the API that floorpersons and supervisors use."""
