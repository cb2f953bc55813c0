"""Telling other systems that something was deleted, and waiting until each has acknowledged it (design/05 layer ``downstream``).

``systems`` registers them, ``delivery`` sends one signed message to an address that is not trusted, ``notices`` is the layer and
what a person can do about a system that does not answer.
"""
