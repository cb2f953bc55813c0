"""The revocation ledger: what was revoked and what is held, in an append-only file outside the database (design/05).

A backup of the database is older than the deletions that came after it. The ledger is not part of it, so whoever restores the
backup learns from the ledger what has to be deleted and held again. ``file`` is the file, ``entries`` what stands in it,
``records`` the way from the database's rows into it, ``guard`` the comparison and ``reapplication`` what follows from it.
"""
