"""Modules of run/compare, run/plot, run/pyhpc_backend.py and others."""
