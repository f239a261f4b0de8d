"""What the programs of rivals share: scripts/rivals.py starts them, each in a process of its own."""
import os
import time


def jax_on(ranks, double=False):
    """Before JAX is imported: so many CPU devices, each with one thread; numbers of 64 bits if `double`."""
    os.environ["XLA_FLAGS"] = (f"--xla_force_host_platform_device_count={ranks}"
                               " --xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1")
    os.environ["JAX_PLATFORMS"] = "cpu"
    if double:
        os.environ["JAX_ENABLE_X64"] = "1"


def median_ms(run, rounds, before=3, meet=lambda: None):
    """The median of `rounds` runs, after some `before` them that do not count; the ranks meet around each."""
    times = []
    for _ in range(before + rounds):
        meet()
        start = time.perf_counter()
        run()
        meet()
        times.append(time.perf_counter() - start)
    return 1e3 * sorted(times[before:])[rounds // 2]


def sampled_ms(run):
    """The median of five samples of a millisecond or more, as bench/sweep.cpp takes it."""
    for _ in range(4):
        run()

    def sample(times):
        start = time.perf_counter()
        for _ in range(times):
            run()
        return 1e3 * (time.perf_counter() - start) / times
    times = int(1 / max(sample(1), 1e-4)) + 1
    return sorted(sample(times) for _ in range(5))[2]
