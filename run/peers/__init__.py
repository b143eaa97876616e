"""What run/compare, run/plot and run/pyhpc_backend.py are made of."""
