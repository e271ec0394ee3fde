"""What do the tests of the Python package share?

``wait`` waits for what no event announces, ``processes`` looks at the process table, ``servers``
starts real and misbehaving servers, ``scripts`` runs programs of Python. The fixtures of
``conftest.py`` hand them out.
"""
