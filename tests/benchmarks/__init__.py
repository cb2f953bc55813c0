"""Benchmarks: whole processes over real HTTP and a real database, each figure beside something honest of the same run."""
