"""Console pages of floor 6. Texts are never shown here; states, times, grounds and decisions are."""

from apps.memories.admin import candidates, home, links, memories, reviews

__all__ = ["candidates", "home", "links", "memories", "reviews"]
