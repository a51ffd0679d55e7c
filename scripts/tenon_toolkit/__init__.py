"""Compilers of other CUDA versions, from PyPI: fetched into .tools, and used."""
