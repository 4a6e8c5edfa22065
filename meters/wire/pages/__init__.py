"""How both sides serve pages: the server, its headers, the files, and money and cards in words."""
