"""The demo tenant: a small bilingual conversation, loaded once, and a walk through the main job on it."""

from memory_platform.demo.loading import DemoAccess, ensure_demo

__all__ = ["DemoAccess", "ensure_demo"]
