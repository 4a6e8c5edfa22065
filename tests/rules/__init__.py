"""The rules of play against the chapter, the readings and a recorded shift."""
