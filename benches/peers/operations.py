"""Times other libraries' operations beside delay-and-sum, as `bench time --peers` asks.

One line of JSON in is an operation: its name, its sizes, places of the result (flat indices) and the right values there.
Numbers and positions are made by the hash that benches/src/data.rs has. ffdas is timed by its own pair of events, CuPy by
its own; inputs and outputs are on the device. For `einsum`, CuPy is its matrix product, which is cuBLAS.
"""

import math

import numpy as np

from das import samples, serve, synchronize, timed, xp


def numbers(first, shape):
    """Complex numbers from a part of the hash on."""
    return samples(first, 2 * math.prod(shape)).view(xp.complex64).reshape(shape)


def positions(first, count, size, centre):
    parts = samples(first, 3 * count).reshape(count, 3)
    return (parts.astype(xp.float64) * xp.asarray(size) + xp.asarray(centre)).astype(xp.float32)


class Request:
    def __init__(self, request):
        self.__dict__.update(request)
        self.state = {}

    def points(self, _):
        # The caller knows.
        return 0

    def timed(self, run):
        return timed(run, self.warm_up, self.runs, self.seconds)

    def error(self):
        """Relative L2 error of the result at the compared places."""
        synchronize()
        got = self.state["out"].reshape(-1)[xp.asarray(self.indices)]
        expected = np.array([complex(*pair) for pair in self.values])
        error = float(np.linalg.norm(got.get() - expected) / np.linalg.norm(expected))
        if not math.isfinite(error):
            raise ValueError("the result is not finite")
        return error


def scene(request):
    """Positions, wavenumbers and amplitudes of spherical waves."""
    sources, frequencies, targets, batch = request.sizes
    from_m = positions(0, sources, [16e-3, 16e-3, 0.0], [0.0, 0.0, 0.0])
    to_m = positions(3 * sources, targets, [16e-3, 16e-3, 10e-3], [0.0, 0.0, 40e-3])
    wavenumbers = (20400.0 * (0.6 + 0.8 * xp.arange(frequencies) / frequencies)).astype(xp.float32)
    return from_m, to_m, wavenumbers, numbers(3 * (sources + targets), (batch, sources, frequencies))


def skewed(x, y, z):
    return xp.stack([x + 0.2 * y, y + 0.1 * z, z + 0.1 * x], axis=-1)


def frames_on_grid(request):
    """Nodes, points and values that are linear in the place."""
    frames, side = request.sizes
    axis = 1e-3 * xp.arange(side, dtype=xp.float64)
    z, y, x = xp.meshgrid(axis, axis, axis, indexing="ij")
    nodes = skewed(x, y, z)
    at = 1e-3 * (side - 1) * (0.5 + 0.49 * samples(0, 3 * side**3).reshape(-1, 3).astype(xp.float64))
    real = 1e3 * (nodes[..., 0] + 2 * nodes[..., 1] + 3 * nodes[..., 2])
    item = xp.arange(frames, dtype=xp.float64).reshape(-1, 1, 1, 1)
    values = (real + 1j * (item - 1e3 * nodes[..., 0])).astype(xp.complex64)
    return nodes.astype(xp.float32), skewed(*at.T).astype(xp.float32), values


def components(request):
    """A matrix whose singular components are known, and how many of them are dropped."""
    frames, length = request.sizes
    dropped = frames // 16
    which = xp.arange(length) % frames
    strength = xp.where(which < dropped, 10.0, 1.0) * 10.0 ** (-which / frames)
    row = numbers(0, (length,)) * strength.astype(xp.float32)
    out = xp.empty((frames, length), xp.complex64)
    for frame in range(frames):
        out[frame] = row * xp.exp(2j * math.pi * (which * frame % frames) / frames).astype(xp.complex64)
    return out, dropped


def factors(request):
    rows, terms, columns = request.sizes
    return numbers(0, (rows, terms)), numbers(2 * rows * terms, (terms, columns)), xp.empty((rows, columns), xp.complex64)


def ffdas_call(request):
    """What ffdas does for an operation, or None."""
    import ffdas

    if request.operation == "greens":
        from_m, to_m, wavenumbers, x = scene(request)
        out = xp.empty((request.sizes[3], request.sizes[2], request.sizes[1]), xp.complex64)
        return lambda: ffdas.greens(from_m, wavenumbers, x, to_m, out=out)
    if request.operation == "einsum":
        left, right, out = factors(request)
        return lambda: ffdas.einsum("ij,jk->ik", left, right, out=out)
    if request.operation == "interpolate":
        nodes, points, values = frames_on_grid(request)
        # In millimetres: it finds nothing in cells of less than a tenth of its unit.
        interpolator = ffdas.Interpolator(1e3 * nodes)
        points = 1e3 * points
        interpolator.preprocess(points)
        out = xp.empty((len(values), len(points)), xp.complex64)
        return lambda: interpolator(values, points, out=out, preprocess=False)
    if request.operation == "truncate_rank":
        x, dropped = components(request)
        out = xp.empty_like(x)
        return lambda: ffdas.truncate_rank(x, dropped, out=out)
    return None


def cupy_call(request):
    """What CuPy does for an operation, or None."""
    if request.operation == "contiguous_copy":
        side = request.sizes[0]
        x, out = numbers(0, (side, side)), xp.empty((side, side), xp.complex64)

        def copy():
            out[...] = x.T
            return out

        return copy
    if request.operation == "gather":
        rows, length = request.sizes
        x, out = numbers(0, (rows, length)), xp.empty((rows // 2, length), xp.complex64)
        indices = xp.arange(0, rows, 2, dtype=xp.int32)
        return lambda: xp.take(x, indices, axis=0, out=out)
    if request.operation == "einsum":
        left, right, out = factors(request)
        return lambda: xp.matmul(left, right, out=out)
    return None


def ffdas_variants(request):
    import ffdas

    call = ffdas_call(request)
    if call is None:
        return

    def run():
        with ffdas.utils.Timer() as timer:
            request.state["out"] = call()
        return timer.elapsed_ms()

    synchronize()
    yield "c64", run, request.error, 1


def cupy_variants(request):
    call = cupy_call(request)
    if call is None:
        return
    start, end = xp.cuda.Event(), xp.cuda.Event()

    def run():
        start.record()
        request.state["out"] = call()
        end.record()
        end.synchronize()
        return xp.cuda.get_elapsed_time(start, end)

    yield "c64", run, request.error, 1


PEERS = [
    ("ffdas", ["ffdas", "cupy"], ffdas_variants),
    ("cupy", ["cupy"], cupy_variants),
]

if __name__ == "__main__":
    serve(PEERS, Request)
