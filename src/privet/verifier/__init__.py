"""The checker that `privet verifier` hands out: a program of its own, which nothing here imports."""
