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


def ffdas_call(request):
    """What ffdas does for an operation, or None."""
    import ffdas

    if request.operation == "greens":
        from_m, to_m, wavenumbers, x = scene(request)
        out = xp.empty((request.sizes[3], request.sizes[2], request.sizes[1]), xp.complex64)
        return lambda: ffdas.greens(from_m, wavenumbers, x, to_m, out=out)
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
