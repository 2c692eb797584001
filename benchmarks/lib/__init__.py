"""What several benchmarks share: reading cases, the baseline, learning and evaluating weights, tables in documents."""
