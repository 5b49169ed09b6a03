"""Trajectories on the road: people whose record is a path through places and times."""
