"""Subject access: everything that is held about a subject, layer by layer, as a signed archive.

What belongs into it is not decided here. A deletion of the subject is tried and undone (``reach``), and every deletion layer
hands out the rows that it would have cleared: so an export and an erasure cannot disagree. ``requests`` is the door, ``working``
the job, ``spool`` the files, ``archive`` and ``pages`` what they hold, ``endings`` how they go again.
"""
