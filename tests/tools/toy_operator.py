#!/usr/bin/env python3
"""A kind of operator is one folder and one line: adds tests/toy_operator/toy and a line of kinds.c to a copy of the sources, builds
the library of it and solves. Usage: toy_operator.py ROOT CMAKE GENERATOR COMPILER"""
import sys

import toy

if __name__ == "__main__":
    toy.solve_with("toy_operator", "src/stencil", "src/stencil/kinds.c", "KINDS", *sys.argv[1:])
