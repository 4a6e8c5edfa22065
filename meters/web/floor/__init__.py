"""The floorpersons' page."""
