#!/usr/bin/env python3
"""Compares linear algebra with NumPy's and SciPy's, of matrices drawn here.

usage: linalg_reference.py FOLDER RANKS mpiexec -n RANKS program_matrices

Draws stacks of matrices, single ones and tall ones, of awkward extents for this number of ranks (empty stacks, fewer
matrices than ranks, fewer rows than a block), runs the program on them, and compares each array that it writes with
numpy.linalg, or scipy.linalg where NumPy lacks the function, of the same numbers in double precision. What NumPy and SciPy
both lack, or do in another way, and what is not unique, is held to its definition: products of factors, orthonormal columns,
pivots that are the largest of their columns. Distances are bounded by the rounding errors of a backward stable algorithm,
FACTOR n eps cond(a), relative to the largest element, or without cond(a) where results do not depend on it. The program
must write all arrays that are listed here and no other one. Without SciPy what is compared with it is left out.
"""
import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np

try:
    import scipy.linalg
except ImportError:
    scipy = None

FACTOR = 8
TYPES = {"double": np.float64, "float": np.float32, "complex": np.complex128}
TRIANGLES = [(upper, unit) for upper in (False, True) for unit in (False, True)]


def draw(folder, p):
    """Writes the arrays, and returns them by kind, type and number, in double precision."""
    random = np.random.default_rng(p)
    drawn = {}

    def numbers(type_name, *shape):
        a = random.standard_normal(shape)
        return a + 1j * random.standard_normal(shape) if type_name == "complex" else a

    def definite(a):
        return a @ a.conj().swapaxes(-1, -2) + a.shape[-1] * np.eye(a.shape[-1])

    def save(kind, type_name, number, a):
        a = a.astype(TYPES[type_name])
        np.save(folder / f"{kind}.{type_name}.{number}.npy", a)
        drawn[kind, type_name, number] = a.astype(complex if type_name == "complex" else float)

    stacks = [(1, 1, 1), (p + 1, 4, 2), (max(p - 1, 0), 7, 3), (2, 37, 40)]
    ones = [(1, 1), (3, 2), (13, 5), (30, 3)]
    talls = [(5 * p, 5, 2), (83, 6, 1)]
    for t in TYPES:
        for k, (count, n, right) in enumerate(stacks):
            a = numbers(t, count, n, n)
            save("stack", t, k, a)
            save("stack_definite", t, k, definite(a))
            save("stack_right", t, k, numbers(t, count, n, right))
            save("stack_vector", t, k, numbers(t, count, n))
            save("stack_tall", t, k, numbers(t, count, n + 3, n))
            save("stack_tall_right", t, k, numbers(t, count, n + 3, right))
            save("stack_wide", t, k, numbers(t, count, n, n + 2))
            rank = (n + 1) // 2
            save("stack_low", t, k, numbers(t, count, n + 3, rank) @ numbers(t, count, rank, n))
        for k, (n, right) in enumerate(ones):
            a = numbers(t, n, n)
            save("one", t, k, a)
            save("one_definite", t, k, definite(a))
            save("one_right", t, k, numbers(t, n, right))
            save("one_vector", t, k, numbers(t, n))
        for k, (m, n, right) in enumerate(talls):
            save("tall", t, k, numbers(t, m, n))
            save("tall_right", t, k, numbers(t, m, right))
    return drawn, [str(len(sizes)) for sizes in (stacks, ones, talls)]


def read(path):
    """The arrays that the program wrote."""
    data, at, arrays = path.read_bytes(), 0, {}
    while at < len(data):
        line_end = data.index(b"\n", at)
        name, dtype, *shape = data[at:line_end].decode().split(" ")
        shape = [int(n) for n in shape]
        count = int(np.prod(shape))
        arrays[name] = np.frombuffer(data, dtype, count, line_end + 1).reshape(shape)
        at = line_end + 1 + count * arrays[name].itemsize
    return arrays


def turned(a):
    return a.swapaxes(-1, -2)


def adjoint(a):
    return turned(a).conj()


def condition(a):
    return np.max(np.linalg.cond(a), initial=1.0) if a.size else 1.0


def norms_of(a, which):
    return np.array([np.linalg.norm(m, which) for m in a])


def least_norm(a, b, rcond):
    shape = (*a.shape[:-2], a.shape[-1], b.shape[-1])
    found = [np.linalg.lstsq(m, r, rcond=rcond)[0] for m, r in zip(a, b)]
    return np.array(found, np.result_type(a, b)).reshape(shape)


class Comparison:
    """The arrays of one type and number beside their references."""

    def __init__(self, arrays, drawn, type_name, number):
        self.arrays, self.drawn, self.type_name, self.number = arrays, drawn, type_name, number
        self.eps = np.finfo(TYPES[type_name]).eps
        self.faults, self.compared, self.worst = [], set(), 0.0

    def given(self, kind):
        return self.drawn[kind, self.type_name, self.number]

    def got(self, what):
        """An array of the program in double precision; None, a fault, if it is missing."""
        name = f"{what}.{self.type_name}.{self.number}"
        self.compared.add(name)
        if name not in self.arrays:
            self.faults.append(f"{name}: not written")
            return None
        a = self.arrays[name]
        kind = np.result_type(a, np.float64) if a.dtype.kind in "fc" else a.dtype
        if a.dtype.kind in "fc" and np.finfo(a.dtype).eps != self.eps:
            self.faults.append(f"{name}: is {a.dtype}")
        return a.astype(kind)

    def near(self, what, got, want, size=1.0, scale=None):
        """`size` multiplies n eps, relative to `scale`, the largest element of `want` by default."""
        if got is None:
            return
        want = np.asarray(want)
        name = f"{what}.{self.type_name}.{self.number}"
        if got.shape != want.shape or np.iscomplexobj(got) != np.iscomplexobj(want):
            self.faults.append(f"{name}: {got.dtype} of shape {got.shape}, expected {want.dtype} of {want.shape}")
            return
        if want.size == 0:
            return
        n = max(want.shape[-2:], default=1)
        largest = np.max(np.abs(want)) if scale is None else scale
        bound = FACTOR * n * self.eps * size * largest
        off = np.max(np.abs(got - want))
        if bound > 0:
            self.worst = max(self.worst, off / bound)
        if not off <= bound:
            self.faults.append(f"{name}: {off:.3g} from its reference, at most {bound:.3g} is allowed")

    def same(self, what, want, size=1.0, scale=None):
        self.near(what, self.got(what), want, size, scale)

    def orthonormal(self, what, q):
        self.near(what + " (orthonormal)", adjoint(q) @ q, np.zeros_like(adjoint(q) @ q) + np.eye(q.shape[-1]))

    def triangles(self, of, a, b, columns):
        """Solutions with triangles of a, and of the transposed matrix: each row has a small residual beside |t| |x|."""
        for upper, unit in TRIANGLES:
            what = of + ("_upper" if upper else "_lower") + ("_unit" if unit else "")
            for end, m, right in (("", a, b), ("_transposed", turned(a), columns)):
                t = np.triu(m) if upper else np.tril(m)
                if unit:
                    t = t - t * np.eye(t.shape[-1]) + np.eye(t.shape[-1])
                x = self.got(what + end)
                if x is None:
                    continue
                rows = np.abs(t) @ np.abs(x)
                rows[rows == 0] = 1
                self.near(what + end, (t @ x - right) / rows, np.zeros_like(right), scale=1.0)
                if scipy and a.ndim == 2:
                    theirs = scipy.linalg.solve_triangular(m, right, lower=not upper, unit_diagonal=unit)
                    far = np.abs(np.linalg.inv(t)) @ (np.abs(t) @ np.abs(theirs))
                    self.near(what + end + " (SciPy)", x, theirs, scale=np.max(far))

    def lu(self, of, a):
        """P a = l u with partial pivoting; the pivots are SciPy's."""
        factors, pivots = self.got(of + "_lu"), self.got(of + "_pivots")
        if factors is None or pivots is None:
            return
        l, u = np.tril(factors, -1) + np.eye(a.shape[-1]), np.triu(factors)
        permuted = a.copy().reshape(-1, *a.shape[-2:])
        for m, order in zip(permuted, pivots.reshape(-1, a.shape[-1])):
            for k, other in enumerate(order):
                m[[k, other]] = m[[other, k]]
        size = np.max(np.abs(l) @ np.abs(u), initial=0.0)
        self.near(of + "_lu", l @ u, permuted.reshape(a.shape), scale=size)
        # |x| + |y| of complex numbers is LAPACK's size
        most = np.sqrt(2) if self.type_name == "complex" else 1
        if np.max(np.abs(np.tril(factors, -1)), initial=0.0) > most * (1 + 4 * self.eps):
            self.faults.append(f"{of}_lu.{self.type_name}.{self.number}: a pivot is not the largest of its column")
        if scipy:
            stored = TYPES[self.type_name]
            for m, order in zip(a.reshape(-1, *a.shape[-2:]), pivots.reshape(-1, a.shape[-1])):
                if not np.array_equal(scipy.linalg.lu_factor(m.astype(stored))[1], order):
                    self.faults.append(f"{of}_pivots.{self.type_name}.{self.number}: not SciPy's")

    def qr(self, q_name, r_name, a):
        q, r = self.got(q_name), self.got(r_name)
        if q is None or r is None:
            return
        self.orthonormal(q_name, q)
        self.near(q_name + " times r", q @ r, a)
        self.near(r_name + " (triangular)", np.tril(r, -1), np.zeros_like(r), scale=0)
        if a.ndim == 2 or a.shape[0]:
            their_q, their_r = np.linalg.qr(a)
            phase = np.sum(q.conj() * their_q, axis=-2)[..., None, :]
            c = condition(a)
            self.near(q_name + " (NumPy)", q * phase, their_q, c)
            self.near(r_name + " (NumPy)", turned(phase).conj() * r, their_r, c)

    def svd(self, of, a):
        u, s, vh = (self.got(of + end) for end in ("_u", "_s", "_vh"))
        if u is None or s is None or vh is None:
            return
        self.orthonormal(of + "_u", u)
        self.orthonormal(of + "_vh", adjoint(vh))
        self.near(of + "_u s vh", (u * s[..., None, :]) @ vh, a)
        want = np.linalg.svd(a, compute_uv=False)
        self.near(of + "_s", s, want)
        self.same(of + "_svdvals", want)

    def solutions(self, a, b, names, columns=None, transposed=()):
        c = condition(a)
        for what in names:
            self.same(what, np.linalg.solve(a, b), c)
        for what in transposed:
            self.same(what, np.linalg.solve(turned(a), b if columns is None else columns), c)

    def determinants(self, of, a):
        c = condition(a)
        self.same(of + "_det", np.linalg.det(a), c)
        sign, logdet = np.linalg.slogdet(a)
        self.same(of + "_sign", sign, c, scale=1.0)
        self.same(of + "_logdet", logdet, c, scale=1.0)

    def reciprocal_conditions(self, a, names):
        """Estimates: never below the true value, seldom above three times it; SciPy has LAPACK's."""
        matrices = a.reshape(-1, *a.shape[-2:])
        exact = np.array([1 / np.linalg.cond(m, 1) for m in matrices])
        for what in names:
            got = self.got(what)
            if got is None:
                continue
            values = np.asarray(got).reshape(-1)
            slack = 1 + FACTOR * a.shape[-1] * self.eps * condition(a)
            if values.shape != exact.shape or np.any(values * slack < exact) or np.any(values > 3 * slack * exact):
                self.faults.append(f"{what}.{self.type_name}.{self.number}: {values} beside {exact}")
            if scipy:
                getrf, gecon = scipy.linalg.get_lapack_funcs(("getrf", "gecon"), (a,))
                theirs = [gecon(getrf(m)[0], np.linalg.norm(m, 1))[0] for m in matrices]
                self.near(what + " (SciPy)", values, np.array(theirs), condition(a))

    def of_stacks(self):
        a, h, b = (self.given(k) for k in ("stack", "stack_definite", "stack_right"))
        self.solutions(a, b, ("stack_solve", "stack_lu_solve"), transposed=("stack_solve_transposed",
                                                                            "stack_lu_solve_transposed"))
        self.same("stack_solve_other", turned(np.linalg.solve(a, b)), condition(a))
        v = self.given("stack_vector")
        self.same("stack_solve_vector", np.linalg.solve(a, v[..., None])[..., 0], condition(a))
        self.lu("stack", a)
        l, c = np.linalg.cholesky(h), condition(h)
        self.same("stack_cholesky", l, c)
        self.same("stack_cholesky_upper", adjoint(l), c)
        self.solutions(h, b, ("stack_cholesky_solve", "stack_cholesky_solve_upper"))
        self.triangles("stack", a, b, b)
        self.same("stack_inv", np.linalg.inv(a), condition(a))
        self.determinants("stack", a)
        w = np.linalg.eigvalsh(h)
        self.same("stack_eigenvalues", w)
        self.same("stack_eigvalsh", w)
        vectors = self.got("stack_eigenvectors")
        if vectors is not None:
            self.orthonormal("stack_eigenvectors", vectors)
            self.near("stack_eigenvectors", (vectors * w[..., None, :]) @ adjoint(vectors), h)
        self.norms(a)
        self.reciprocal_conditions(a, ("stack_rcond", "stack_rcond_of_lu"))
        for power, what in ((0, "0"), (1, "1"), (5, "5"), (-2, "back")):
            size = 1.0 if power >= 0 else condition(a) ** 2
            scale = np.max(np.linalg.matrix_power(np.abs(a), power), initial=0.0) if power >= 0 else None
            self.same("stack_power_" + what, np.linalg.matrix_power(a, power), size, scale)
        tall, wide, low = (self.given(k) for k in ("stack_tall", "stack_wide", "stack_low"))
        for of, m in (("square", a), ("tall", tall), ("wide", wide)):
            self.qr(f"stack_{of}_q", f"stack_{of}_r", m)
            self.svd(f"stack_{of}", m)
            self.same(f"stack_{of}_pinv", np.linalg.pinv(m), condition(m))
            self.same(f"stack_{of}_rank", np.linalg.matrix_rank(m.astype(TYPES[self.type_name])))
        right = self.given("stack_tall_right")
        self.same("stack_lstsq", np.linalg.pinv(tall) @ right, condition(tall) ** 2)
        # as the least of the singular values that are not taken for 0
        s = np.linalg.svd(low, compute_uv=False)
        rank = (low.shape[-1] + 1) // 2
        c = np.max(s[..., 0] / s[..., rank - 1], initial=1.0)
        self.same("stack_low_pinv", np.linalg.pinv(low, rcond=1e-4), c**2)
        self.same("stack_low_lstsq", least_norm(low, right, 1e-4), c**2)
        self.same("stack_wide_lstsq", least_norm(wide, b, 1e-10), condition(wide) ** 2)
        self.same("stack_low_rank", np.full(low.shape[0], rank))

    def norms(self, a):
        for end, which in (("", "fro"), ("_one", 1), ("_infinity", np.inf), ("_two", 2)):
            self.same("stack_norm" + end, norms_of(a, which))
        for end, which in (("", 2), ("_one", 1), ("_infinity", np.inf)):
            self.same("stack_norms_of_columns" + end, np.linalg.norm(a, which, axis=1))
        c = condition(a)
        for end, which in (("", 2), ("_frobenius", "fro"), ("_one", 1), ("_infinity", np.inf)):
            self.same("stack_cond" + end, np.array([np.linalg.cond(m, which) for m in a]).real, c)

    def of_ones(self):
        a, h, b = (self.given(k) for k in ("one", "one_definite", "one_right"))
        same = ["solve", "solve_in_place", "solve_own", "refined", "solve_named", "lu_solve"]
        self.solutions(a, b, ["columns_" + end for end in same] + ["rows_solve", "grid_solve", "grid_lu_solve"],
                       transposed=["columns_solve_transposed", "columns_lu_solve_transposed",
                                   "grid_lu_solve_transposed"])
        self.same("columns_solve_vector", np.linalg.solve(a, self.given("one_vector")), condition(a))
        self.lu("columns", a)
        self.lu("grid", a)
        l, c = np.linalg.cholesky(h), condition(h)
        self.same("columns_cholesky", l, c)
        self.same("grid_cholesky", l, c)
        self.same("rows_cholesky_upper", adjoint(l), c)
        self.solutions(h, b, ("columns_cholesky_solve", "grid_cholesky_solve"))
        for of in ("columns", "rows", "grid"):
            self.triangles(of, a, b, b)
        self.same("columns_inv", np.linalg.inv(a), condition(a))
        self.same("rows_inv", np.linalg.inv(a), condition(a))
        self.determinants("columns", a)
        self.same("rows_det", np.linalg.det(a), condition(a))
        self.reciprocal_conditions(a, ("columns_rcond", "columns_rcond_of_lu"))
        self.same("columns_norm_one", np.linalg.norm(a, 1))
        self.same("rows_norm_infinity", np.linalg.norm(a, np.inf))

    def of_talls(self):
        a, b = self.given("tall"), self.given("tall_right")
        self.qr("tall_q", "tall_r", a)
        self.qr("tall_q_by_products", "tall_r_by_products", a)
        self.same("tall_lstsq", np.linalg.lstsq(a, b, rcond=None)[0], condition(a) ** 2)


def main():
    folder, p, command = Path(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    drawn, counts = draw(folder, p)
    run = subprocess.run([*command, str(folder), *counts], check=False)
    if run.returncode != 0:
        sys.exit(f"the program ended with {run.returncode}")
    arrays = read(folder / "out")
    faults, compared, worst = [], set(), 0.0
    for t in TYPES:
        for count, compare in zip(counts, (Comparison.of_stacks, Comparison.of_ones, Comparison.of_talls)):
            for k in range(int(count)):
                c = Comparison(arrays, drawn, t, k)
                compare(c)
                faults += c.faults
                compared |= c.compared
                worst = max(worst, c.worst)
    faults += [f"{name}: nothing to compare it with" for name in sorted(set(arrays) - compared)]
    if faults:
        sys.exit("\n".join([*faults[:20], f"{len(faults)} faults in {len(compared)} arrays"]))
    shutil.rmtree(folder)
    beside = f"NumPy {np.__version__} and SciPy {scipy.__version__}" if scipy else f"NumPy {np.__version__}"
    print(f"{len(compared)} arrays on {p} ranks beside {beside}, at most {worst:.2f} of the bound")
    if not scipy:
        print("what SciPy has was left out: this Python cannot import scipy")


if __name__ == "__main__":
    main()
