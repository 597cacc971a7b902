"""Algebra over semirings: products and closures of matrices, shortest paths, polyadic problems."""
