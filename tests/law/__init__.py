"""Tests of the program against the printed law: every table cell and every subsection."""
