"""Writes the MAT-files beside this script with SciPy: one value of each kind, plain and compressed, and level 4."""

from pathlib import Path

import numpy as np
from scipy.io import savemat
from scipy.sparse import eye

here = Path(__file__).parent

inner = {"d": 1.5, "e": np.zeros((0, 0))}
structures = np.zeros((1, 3), dtype=[("a", object), ("b", object)])
for i in range(3):
    structures[0, i] = (float(i), f"s{i}")
cells = np.empty((2, 2), dtype=object)
cells[0, 0], cells[0, 1] = np.int16([[1, 2]]), "hi"
cells[1, 0], cells[1, 1] = np.zeros((0, 0)), inner

values = {
    "volume": np.arange(24, dtype=np.int16).reshape(2, 3, 4),
    "int8": np.int8([[-128, 127]]),
    "uint8": np.uint8([[1, 2, 3, 4, 255]]),
    "uint16": np.uint16([[1480]]),
    "int32": np.int32([[5_000_000]]),
    "uint32": np.uint32([[4_000_000_000]]),
    "int64": np.int64([[-(2**40)]]),
    "uint64": np.uint64([[2**40]]),
    "single": np.float32([[1.5], [-2.5]]),
    "double": np.array([[0.1, np.nan, np.inf]]),
    "logical": np.array([[True, False, True]]),
    "iq64": np.array([[1 + 2j, 3 - 4j]]),
    "iq32": np.array([[1 + 2j], [3 - 4j]], dtype=np.complex64),
    "text": "Größe",
    "rows": np.array(["abc", "def"]),
    "nothing": np.zeros((0, 3)),
    "cells": cells,
    "structures": structures,
    "param": {"fc": np.int32(5_000_000), "deep": inner},
    "sparse": eye(3, format="csc"),
    "last": 1.0,
}
savemat(here / "scipy.mat", values)
savemat(here / "scipy_compressed.mat", values, do_compression=True)
savemat(here / "level4.mat", {"x": np.arange(3.0)}, format="4")
