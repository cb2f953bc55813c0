"""Closed sets of words that records use."""

from __future__ import annotations

from django.db import models
from django.utils.translation import gettext_lazy as _


class MemoryType(models.TextChoices):
    PREFERENCE = "preference", _("preference")
    FACT = "fact", _("fact")
    EPISODIC = "episodic", _("episode")
    PROCEDURAL = "procedural", _("procedure")
    DECISION = "decision", _("decision")
    STATE = "state", _("state")
    FINDING = "finding", _("finding")
    CONSTRAINT = "constraint", _("constraint")
    PROGRESS = "progress", _("progress")
    GOAL = "goal", _("goal")


class EpistemicStatus(models.TextChoices):
    """The nature of the evidence, never the stage of life (VH-03)."""

    EXPLICIT = "explicit", _("explicit")
    OBSERVED = "observed", _("observed")
    INFERRED = "inferred", _("inferred")
    VALIDATED = "validated", _("validated")


class Verdict(models.TextChoices):
    """The standing of a claim; findings need one, constraints are not applicable."""

    PROVISIONAL = "provisional", _("provisional")
    SUPPORTED = "supported", _("supported")
    CONTESTED = "contested", _("contested")
    REFUTED = "refuted", _("refuted")
    NOT_APPLICABLE = "not_applicable", _("not applicable")


class RetrievalPolicy(models.TextChoices):
    ALWAYS = "always", _("always")
    RELEVANT = "relevant", _("when relevant")
    NEVER = "never", _("never")


class Authority(models.TextChoices):
    DATABASE = "database", _("database")
    GIT = "git", _("Git")


class Decision(models.TextChoices):
    """The only outcomes of consolidation (MG-01)."""

    ADD = "ADD", _("added")
    NO_OP = "NO_OP", _("nothing new")
    ATTACH_EVIDENCE = "ATTACH_EVIDENCE", _("evidence attached")
    SUPERSEDE = "SUPERSEDE", _("superseded")
    INSERT_HISTORY = "INSERT_HISTORY", _("inserted into history")
    CONFLICT = "CONFLICT", _("conflict")
    REJECT = "REJECT", _("rejected")
