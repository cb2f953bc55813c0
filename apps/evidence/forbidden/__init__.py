"""Detectors of material that may not be stored, one module per way in which it shows itself."""
