"""`pitlink archive` and what is read across an archive, on real parts."""
