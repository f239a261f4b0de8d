"""Other programs that benchmarks are compared with: installed or built into build/rivals, once."""
import glob
import os
import re
import shutil
import subprocess
import sys
import tempfile
from contextlib import contextmanager

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
FOLDER = os.path.join(ROOT, "build", "rivals")


def python_with(package):
    """A Python that has the package; None where it cannot be installed."""
    venv = os.path.join(FOLDER, "python")
    python = os.path.join(venv, "bin", "python")
    try:
        if not os.path.exists(python):
            subprocess.run([sys.executable, "-m", "venv", venv], check=True, capture_output=True)
        if subprocess.run([python, "-c", f"import {package}"], check=False, capture_output=True).returncode != 0:
            subprocess.run([python, "-m", "pip", "install", "-q", "numpy", package], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return python


@contextmanager
def sides(**texts):
    """{package: command} of programs that use a package: of those that can be installed."""
    with tempfile.TemporaryDirectory() as folder:
        commands = {}
        for package, text in texts.items():
            program = os.path.join(folder, package + "_side.py")
            with open(program, "w", encoding="utf-8") as f:
                f.write(text)
            python = python_with(package)
            if python is None:
                print(f"{package} is not installed and cannot be", flush=True)
            else:
                commands[package] = [python, program]
        yield commands


def of_torch(side, ranks):
    """A program of PyTorch on so many ranks."""
    return [side[0], "-m", "torch.distributed.run", f"--nproc-per-node={ranks}", "--master-addr=127.0.0.1", side[1]]


def took(command, cores):
    """{case: milliseconds} of the lines "took CASE MS" of a program on so many cores; nothing where it fails."""
    there = sorted(os.sched_getaffinity(0))[:cores]
    run = subprocess.run(command, check=False, capture_output=True, text=True,
                         preexec_fn=lambda: os.sched_setaffinity(0, there))
    if run.returncode != 0:
        print(run.stderr[-2000:], file=sys.stderr)
    return {m[1]: float(m[2]) for m in re.finditer(r"took (\S+) (\S+)", run.stdout)}


def source_of(package, folder):
    """Unpacks the upstream source of a distribution's package into `folder`, from the machine's own package sources,
    whether or not they name source packages; needs no root."""
    parts = os.path.join(folder, "sources.d")
    for part in (parts, os.path.join(folder, "lists", "partial"), os.path.join(folder, "cache")):
        os.makedirs(part, exist_ok=True)
    for path in ["/etc/apt/sources.list", *glob.glob("/etc/apt/sources.list.d/*")]:
        if not os.path.exists(path):
            continue
        with open(path, encoding="utf-8") as f:
            text = f.read()
        if path.endswith(".sources"):
            text = re.sub(r"(?m)^Types:.*", "Types: deb-src", text)
        else:
            text = "\n".join(re.sub(r"^deb ", "deb-src ", line) for line in text.splitlines()
                             if line.startswith("deb ")) + "\n"
        with open(os.path.join(parts, os.path.basename(path)), "w", encoding="utf-8") as f:
            f.write(text)
    apt = ["apt-get", "-qq", "-o", "Dir::Etc::sourcelist=/dev/null", "-o", f"Dir::Etc::sourceparts={parts}",
           "-o", f"Dir::State::lists={folder}/lists", "-o", f"Dir::Cache={folder}/cache"]
    # some of the lists may be out of reach
    subprocess.run([*apt, "update"], check=False, capture_output=True)
    subprocess.run([*apt, "source", "--download-only", package], check=True, capture_output=True, cwd=folder)
    tar = glob.glob(os.path.join(folder, "*.orig.tar.*"))[0]
    source = os.path.join(folder, "source")
    os.makedirs(source)
    subprocess.run(["tar", "-xf", tar, "-C", source, "--strip-components=1"], check=True)
    return source


def fftw_mpi():
    """FFTW's MPI library for MPICH, as a shared library beside the installed FFTW, whose version it has; None where it
    cannot be built."""
    library = os.path.join(FOLDER, "libfftw3_mpi.so")
    if os.path.exists(library):
        return library
    folder = os.path.join(FOLDER, "fftw")
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    compiler = shutil.which("mpicc.mpich") or shutil.which("mpicc")
    try:
        version = subprocess.run(["dpkg-query", "-W", "-f", "${Version}", "libfftw3-dev"], check=True,
                                 capture_output=True, text=True).stdout
        source = source_of(f"fftw3={version}", folder)
        # only for config.h
        subprocess.run(["./configure", "--enable-mpi", "--disable-fortran", f"MPICC={compiler}"], check=True,
                       capture_output=True, cwd=source)
        mpi = os.path.join(source, "mpi")
        files = [f for f in sorted(os.listdir(mpi))
                 if f.endswith(".c") and f not in ("testsched.c", "mpi-bench.c", "f03-wrap.c")]
        subprocess.run([compiler, "-O3", "-fPIC", "-shared", "-w", "-I..", "-I../api", *files, "-o", library,
                        "-lfftw3", "-lm"], check=True, capture_output=True, cwd=mpi)
    except (OSError, IndexError, subprocess.CalledProcessError):
        return None
    return library
