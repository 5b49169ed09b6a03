"""Trajectories in tables: a path column, visits, readings or GPS points, read into arrays, and written."""
