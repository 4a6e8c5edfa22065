"""Tests of users: names, PINs, roles, sessions, the operators' log, the command."""
