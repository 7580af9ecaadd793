"""Faults that are put in on purpose, to see that each is found."""
