"""Tests of `pitlink archive` and of audits across an archive, on real parts."""
