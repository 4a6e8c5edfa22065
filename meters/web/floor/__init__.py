"""The floor page, on which floorpersons decide wins and supervisors manage links."""
