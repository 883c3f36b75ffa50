"""Times other libraries' delay-and-sum on the cases that `bench time --peers` sends.

One line of JSON in is a case: sizes, files of float32 geometry (positions and delays in samples), places of the result
and the direct sums there. Out come a line a variant, and {"done": true}. Samples are made here by the hash that
benches/src/data.rs has. Before the first case a line tells which libraries are here and why the others are not.

ffdas is timed by its own pair of events, mach by CuPy's; data and output are on the device. mach takes one transmit a
call and its own order of the data (channel, sample, frame), which is made beforehand and not timed; a tiny f-number and
no taper give it the full aperture. vbeam has no way to record events: its times are the host's, from call to finished
result, for one frame.
"""

import importlib.metadata
import json
import math
import os
import sys
import time

import numpy as np

try:
    import cupy as xp
except ImportError:
    xp = np

SOUND_SPEED_M_S = 1540.0
# Parts hashed at once.
CHUNK = 1 << 24
# Voxels that vbeam works on at once.
VBEAM_VOXELS = 4096


def samples(first_part, n_parts):
    """Parts of the data, as float32."""
    values = xp.empty(n_parts, xp.float32)
    for start in range(0, n_parts, CHUNK):
        stop = min(start + CHUNK, n_parts)
        state = xp.arange(first_part + start + 1, first_part + stop + 1, dtype=xp.uint64)
        state *= xp.uint64(0x9E3779B97F4A7C15)
        state ^= state >> xp.uint64(30)
        state *= xp.uint64(0xBF58476D1CE4E5B9)
        state ^= state >> xp.uint64(27)
        state *= xp.uint64(0x94D049BB133111EB)
        state ^= state >> xp.uint64(31)
        values[start:stop] = (state >> xp.uint64(40)).astype(xp.float32) / xp.float32(1 << 23) - xp.float32(1)
    return values


def synchronize():
    """Waits for all streams: libraries have their own."""
    if hasattr(xp, "cuda"):
        xp.cuda.Device().synchronize()


def timed(run, warm_up, runs, seconds):
    """Milliseconds of the runs that count; `run` returns those of one."""
    for _ in range(warm_up):
        if run() > 250.0 * seconds:
            break
    times = []
    while len(times) < min(3, runs) or (len(times) < runs and sum(times) < 1e3 * seconds):
        times.append(run())
    times.sort()
    return {"median": times[len(times) // 2], "min": times[0], "max": times[-1], "runs": len(times)}


class Case:
    def __init__(self, request):
        self.__dict__.update(request)
        read = lambda name: np.fromfile(os.path.join(self.folder, name), np.float32)
        self.elements = read("elements").reshape(self.n_channels, 3)
        self.voxels = read("voxels").reshape(-1, 3)
        self.offsets = read("offsets").reshape(self.n_transmits, -1)
        self.n_voxels = len(self.voxels)
        self.is_iq = self.demodulation_frequency_hz is not None
        self.metres = SOUND_SPEED_M_S / self.sampling_frequency_hz

    def data(self, n_batch):
        """The first frames, (batch, channel, transmit, sample)."""
        shape = (n_batch, self.n_channels, self.n_transmits, self.n_samples)
        values = samples(0, math.prod(shape) * (2 if self.is_iq else 1))
        return (values.view(xp.complex64) if self.is_iq else values).reshape(shape)

    def error(self, got, sums):
        """Relative L2 error of values at the compared places."""
        expected = np.array([complex(*pair) for pair in sums])
        got = np.asarray(got.get() if hasattr(got, "get") else got)
        error = float(np.linalg.norm(got - expected) / np.linalg.norm(expected))
        if not math.isfinite(error):
            raise ValueError("the result is not finite")
        return error

    def timed(self, run):
        return timed(run, self.warm_up, self.runs, self.seconds)

    def points(self, n_batch):
        return self.n_voxels * self.n_channels * self.n_transmits * n_batch


def ffdas_variants(case):
    import ffdas

    x = case.data(case.n_batch)
    grid = tuple(case.grid)
    elements, voxels = xp.asarray(case.elements), xp.asarray(case.voxels).reshape(*grid, 3)
    offsets = xp.asarray(case.offsets).reshape(case.n_transmits, *grid)
    weights = xp.ones_like(offsets)
    out = xp.empty((case.n_batch, *grid), x.dtype)
    items, at = (xp.asarray(axis) for axis in np.array(case.places).T)
    names = [name for name in ("ALG1", "ALG2", "ALG3", "ALG4") if hasattr(ffdas.Algorithm, name)]
    # Data demodulated either way are in use; the sign is the one that gives the direct sum.
    wave_number = 2 * math.pi * (case.demodulation_frequency_hz or 0.0) / case.sampling_frequency_hz

    def call(name, half, sign):
        ffdas.das(
            x, elements, voxels, offsets, weights, wavenum=sign * wave_number,
            algorithm=getattr(ffdas.Algorithm, name), use_fp16=half, out=out,
        )

    def error():
        synchronize()
        return case.error(out.reshape(case.n_batch, -1)[items, at], case.sums)

    def error_with(sign):
        out.fill(0)
        synchronize()
        call("ALG1", False, sign)
        return error()

    sign = min((1, -1), key=error_with)

    for name in names:
        for half in (False, True):
            variant = f"{name.lower()}-{'f16' if half else 'f32'}"

            def run():
                with ffdas.utils.Timer() as timer:
                    call(name, half, sign)
                return timer.elapsed_ms()

            out.fill(0)
            synchronize()
            yield variant, run, error, case.n_batch


def mach_variants(case):
    from mach.kernel import beamform

    x = case.data(case.n_batch)
    data = [xp.ascontiguousarray(xp.transpose(x[:, :, q, :], (1, 2, 0))) for q in range(case.n_transmits)]
    elements, voxels = xp.asarray(case.elements) * case.metres, xp.asarray(case.voxels) * case.metres
    elements, voxels = elements.astype(xp.float32), voxels.astype(xp.float32)
    arrivals = [(xp.asarray(row) / case.sampling_frequency_hz).astype(xp.float32) for row in case.offsets]
    out = xp.empty((case.n_voxels, case.n_batch), x.dtype)
    items, at = (xp.asarray(axis) for axis in np.array(case.places).T)
    start, end = xp.cuda.Event(), xp.cuda.Event()

    def run():
        start.record()
        # Calls add to the output.
        out.fill(0)
        for signals, arrival in zip(data, arrivals):
            beamform(
                signals, elements, voxels, arrival, out, rx_start_s=0.0, f_number=1e-4, tukey_alpha=0.0,
                sampling_freq_hz=case.sampling_frequency_hz, sound_speed_m_s=SOUND_SPEED_M_S,
                modulation_freq_hz=case.demodulation_frequency_hz or 0.0,
            )
        end.record()
        end.synchronize()
        return xp.cuda.get_elapsed_time(start, end)

    yield "c64" if case.is_iq else "f32", run, lambda: case.error(out[at, items], case.sums), case.n_batch


def vbeam_variants(case):
    import jax
    import jax.numpy as jnp
    from vbeam.fastmath import backend_manager

    backend_manager.active_backend = "jax"
    from vbeam.apodization import NoApodization
    from vbeam.core import ElementGeometry, WaveData, signal_for_point
    from vbeam.interpolation import FastInterpLinspace
    from vbeam.wavefront import PlaneWavefront, ReflectedWavefront

    frame = case.data(1)[0]
    frame = jnp.asarray(frame.get() if hasattr(frame, "get") else frame)
    elements, voxels = jnp.asarray(case.elements * case.metres), jnp.asarray(case.voxels * case.metres)
    interpolate = FastInterpLinspace(0.0, 1.0 / case.sampling_frequency_hz, case.n_samples)

    def one(angle, signal, element, voxel):
        return signal_for_point(
            ElementGeometry(jnp.zeros(3)), voxel, ElementGeometry(element), signal, PlaneWavefront(),
            ReflectedWavefront(), SOUND_SPEED_M_S, WaveData(azimuth=angle, elevation=0.0, t0=0.0), interpolate,
            case.demodulation_frequency_hz, NoApodization(),
        )

    transmits = jax.vmap(one, (0, 0, None, None))
    channels = jax.vmap(transmits, (None, 0, 0, None))

    @jax.jit
    def beamform(angles, frame, elements, voxels):
        voxel = lambda voxel: channels(angles, frame, elements, voxel).sum()
        return jax.lax.map(voxel, voxels, batch_size=VBEAM_VOXELS)

    angles = jnp.asarray(np.array(case.angles_rad, np.float32))
    state = {}

    def run():
        start = time.perf_counter()
        state["out"] = beamform(angles, frame, elements, voxels).block_until_ready()
        return 1e3 * (time.perf_counter() - start)

    at = np.array(case.places)[:, 1]
    yield "jax-f32", run, lambda: case.error(np.asarray(state["out"])[at], case.first_frame_sums), 1


PEERS = [
    ("ffdas", ["ffdas", "cupy"], ffdas_variants),
    ("mach", ["mach", "cupy"], mach_variants),
    ("vbeam", ["vbeam", "jax"], vbeam_variants),
]
PACKAGES = {"mach": "mach-beamform"}


def version_of(name):
    """A library's version: its package's, or what it says itself where packages have other names."""
    try:
        return importlib.metadata.version(PACKAGES.get(name, name))
    except importlib.metadata.PackageNotFoundError:
        return __import__(name).__version__


def serve(peers, read):
    """Answers requests, each read by `read`, with a line a variant of each peer."""
    # What libraries print must not come between the lines.
    lines = os.fdopen(os.dup(1), "w", buffering=1)
    os.dup2(2, 1)
    say = lambda content: print(json.dumps(content), file=lines, flush=True)

    present, missing = [], {}
    for name, modules, variants in peers:
        try:
            for module in modules:
                __import__(module)
            version = version_of(name)
            present.append((f"{name}-{version}", variants))
        except Exception as error:
            missing[name] = f"{type(error).__name__}: {error}"
    say({"present": [name for name, _ in present], "missing": missing})

    for line in sys.stdin:
        case = read(json.loads(line))
        for implementation, variants in present:
            try:
                rows = variants(case)
                while True:
                    row = {"implementation": implementation, "variant": "all"}
                    try:
                        row["variant"], run, error, n_batch = next(rows)
                        row["milliseconds"] = case.timed(run)
                        row["relative_error"] = error()
                        row["points"] = case.points(n_batch)
                    except StopIteration:
                        break
                    except Exception as failure:
                        row["failed"] = f"{type(failure).__name__}: {failure}"[:300]
                    say(row)
            finally:
                rows = run = error = None
                if hasattr(xp, "get_default_memory_pool"):
                    xp.get_default_memory_pool().free_all_blocks()
        say({"done": True})


if __name__ == "__main__":
    serve(PEERS, Case)
