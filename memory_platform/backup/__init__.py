"""Backups of the database: making one, checking it file by file, and putting it back.

Which backups there are is a matter of governance and stands one floor down (apps/retention/backups.py).
"""
