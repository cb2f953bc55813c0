"""The semantic lane: memories that mean what a question means, in other words. Off unless the operator names an embedder.

An embedder turns a text into a vector; near vectors mean alike. Nearness never decides what applies or what is true (RP-44).
"""
