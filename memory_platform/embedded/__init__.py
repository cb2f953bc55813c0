"""The embedded database: a real PostgreSQL under the home folder, shared by every process that needs it.

Whoever finds no server starts one; whoever leaves last stops it. ``leases.lease(home)`` is the door, ``places`` says where things
are (all that settings need); the other modules are the rooms behind.
"""
