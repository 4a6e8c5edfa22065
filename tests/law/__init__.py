"""The printed law against the program: every cell of its tables, and every subsection."""
