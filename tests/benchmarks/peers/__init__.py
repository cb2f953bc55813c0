"""The same rows and questions for other memory stores, beside ours; ``python -m tests.benchmarks.peers --help`` says how."""
