"""Tests of the submission to the regulator: `pitlink submit`."""
