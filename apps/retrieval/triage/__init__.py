"""Triage (design/04 stage 1): whether a request needs memory at all, lacks what to look for, or can be answered from it."""
