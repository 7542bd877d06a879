"""Bowerbird for Python programs: what stands in the way of `bower` is only a pipe."""
