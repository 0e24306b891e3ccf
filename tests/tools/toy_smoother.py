#!/usr/bin/env python3
"""A smoother is one folder and one line: adds tests/toy_smoother/toy and a line of registry.c to a copy of the sources, builds the
library of it and solves. Usage: toy_smoother.py ROOT CMAKE GENERATOR COMPILER"""
import sys

import toy

if __name__ == "__main__":
    toy.solve_with("toy_smoother", "src/smoothers", "src/smoothers/registry.c", "SMOOTHERS", *sys.argv[1:])
