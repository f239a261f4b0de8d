"""Benchmarks of this tree and of other commits, each built in its own tree with its own include/."""
import os
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))


def git(*arguments):
    return subprocess.run(["git", *arguments], cwd=ROOT, check=True, capture_output=True, text=True).stdout.strip()


def tree_of(commit):
    """A worktree of the commit, in build/, kept for the next call."""
    full = git("rev-parse", "--verify", commit + "^{commit}")
    folder = os.path.join(ROOT, "build", "against")
    if not os.path.exists(os.path.join(folder, ".git")):
        git("worktree", "prune")
        git("worktree", "add", "--detach", folder, full)
    else:
        subprocess.run(["git", "checkout", "--quiet", "--detach", full], cwd=folder, check=True)
    return folder


def build(tree, target):
    """The binary of `target` in that tree."""
    quiet = {"cwd": tree, "check": True, "stdout": subprocess.DEVNULL}
    subprocess.run(["cmake", "--preset", "bench"], stderr=subprocess.DEVNULL, **quiet)
    subprocess.run(["cmake", "--build", "build/bench", "--target", target, "-j", "2"], **quiet)
    return os.path.join(tree, "build", "bench", "bench", target)
