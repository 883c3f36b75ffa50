"""Times PyMUST's delay-and-sum of the rotating disk, and warpbeam's CPU backend in the same run.

PyMUST (0.1.9 from PyPI, with NumPy and SciPy) makes a sparse matrix once for a geometry and multiplies it with the IQ
data of all 32 frames. Assembly and product are timed apart; the product also with the matrix and the data rounded to
complex64, which PyMUST does not do by itself. warpbeam is the example `time_disk` of the integration tests. Both get
the same acquisition, f-number 1, linear interpolation, 251 x 251 pixels; demodulation is not timed. The runs of the two
alternate. Times exclude nothing of a product or a run: host arrays in, host arrays out.

    python3 -m venv target/pymust && target/pymust/bin/pip install pymust==0.1.9
    target/pymust/bin/python benches/peers/pymust_disk.py --output target/pymust_disk.json
"""

import argparse
import importlib.metadata
import json
import os
import pathlib
import platform
import statistics
import subprocess
import time

import numpy as np
import pymust
import scipy.io

ROOT = pathlib.Path(__file__).resolve().parents[2]


def timed(call):
    start = time.perf_counter()
    result = call()
    return 1e3 * (time.perf_counter() - start), result


def row(implementation, variant, operation, milliseconds, points, relative_error):
    return {
        "operation": operation,
        "case": "rotating-disk",
        "implementation": implementation,
        "variant": variant,
        "milliseconds": {
            "median": statistics.median(milliseconds),
            "min": min(milliseconds),
            "max": max(milliseconds),
            "runs": len(milliseconds),
        },
        "points": points,
        "relative_error": relative_error,
    }


def warpbeam(folder, runs):
    """Milliseconds of the example's runs, its points, and its distance from PyMUST's image."""
    command = ["cargo", "run", "--quiet", "--release", "--package", "integration-tests", "--example", "time_disk", "--"]
    environment = dict(os.environ, WARPBEAM_TEST_DATA=str(folder))
    output = subprocess.run([*command, str(runs)], cwd=ROOT, env=environment, check=True, capture_output=True, text=True)
    return json.loads(output.stdout)


def main():
    arguments = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    arguments.add_argument("--data", type=pathlib.Path, default=ROOT.parent / "shared" / "data")
    arguments.add_argument("--output", type=pathlib.Path, required=True)
    arguments.add_argument("--runs", type=int, default=5, help="runs of each, times the rounds")
    arguments.add_argument("--rounds", type=int, default=3)
    chosen = arguments.parse_args()

    mat = scipy.io.loadmat(chosen.data / "PWI_disk.mat")
    peer = np.load(chosen.data / "pwi_disk_pymust.npz")
    fields = mat["param"][0, 0]
    param = pymust.utils.Param()
    for name in ("fs", "pitch", "fc", "c", "t0", "width", "bandwidth"):
        # Some are stored as small integers, which would overflow in products.
        setattr(param, name, float(fields[name].item()))
    param.Nelements = int(fields["Nelements"].item())
    param.TXdelay = np.zeros((1, param.Nelements))
    param.fnumber = 1.0
    param.t0 = np.array([[param.t0]])

    rf = mat["RF"].astype(np.float64)
    iq = pymust.rf2iq(rf, param)
    samples, channels, frames = iq.shape
    x, z = np.meshgrid(peer["x"].astype(np.float64), peer["z"].astype(np.float64))

    def assemble():
        return pymust.dasmtx(1j * np.array([samples, channels]), x, z, param.TXdelay, param)

    assembly, matrix = zip(*(timed(assemble) for _ in range(2)))
    matrix = matrix[0].tocsr()
    columns = np.ascontiguousarray(iq.reshape(samples * channels, frames, order="F"))
    narrow = (matrix.astype(np.complex64), columns.astype(np.complex64))
    points = x.size * channels * frames

    wide_ms, narrow_ms, ours_ms, ours = [], [], [], None
    for _ in range(chosen.rounds):
        for _ in range(chosen.runs):
            wide_ms.append(timed(lambda: matrix @ columns)[0])
            narrow_ms.append(timed(lambda: narrow[0] @ narrow[1])[0])
        ours = warpbeam(chosen.data, chosen.runs)
        ours_ms.extend(ours["milliseconds"])

    def error(image):
        expected = peer["das_frames0_3"]
        got = image.reshape(*x.shape, frames, order="F")[:, :, :4]
        return float(np.linalg.norm(got - expected) / np.linalg.norm(expected))

    version = f"pymust-{importlib.metadata.version('pymust')}"
    rows = [
        row(version, "sparse-complex128", "das-plan", assembly, points, error(matrix @ columns)),
        row(version, "sparse-complex128", "das", wide_ms, points, error(matrix @ columns)),
        row(version, "sparse-complex64", "das", narrow_ms, points, error(narrow[0] @ narrow[1])),
        row("warpbeam", "cpu-f32", "das-plan", ours["plan_milliseconds"], points, ours["distance_from_pymust"]),
        row("warpbeam", "cpu-f32", "das", ours_ms, points, ours["distance_from_pymust"]),
    ]
    for each in rows:
        median = each["milliseconds"]["median"]
        speed = f"{points / median / 1e6:7.3f} 10^9 points/s" if each["operation"] == "das" else "one geometry"
        name = f"{each['implementation']:<14} {each['variant']:<18} {each['operation']:<9}"
        print(f"{name} {median:9.1f} ms  {speed}  error {each['relative_error']:.1e}")
    content = {"device": platform.processor() or platform.machine(), "host": f"{os.cpu_count()} cores", "runs": rows}
    chosen.output.parent.mkdir(parents=True, exist_ok=True)
    chosen.output.write_text(json.dumps(content, indent=2) + "\n")


if __name__ == "__main__":
    main()
