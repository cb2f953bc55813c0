"""Bringing recorded conversations in: readers of file layouts, and the verb that turns turns into events and episodes."""
