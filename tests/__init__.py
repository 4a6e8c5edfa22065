"""Tests of pitlink, one package for each subject."""
