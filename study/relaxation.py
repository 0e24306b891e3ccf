"""The tables of docs/study-relaxation.md (page.py fills them in), the paper's numbers and what theory says."""
import functools
import math

from page import first, measured, number, spread, table

PAGE = "study-relaxation.md"
FILES = ["relaxation-device*.json", "relaxation-host-1-thread.json", "relaxation-host-large.json", "relaxation-host.json"]

# Anzt, Tomov, Dongarra, Heuveline (2013). Table 1: unknowns, entries, spectral radius of Jacobi's matrix.
TABLE_1 = {"Chem97ZtZ": (2541, 7361, 0.7889), "Fv1": (9604, 85264, 0.8541), "Fv2": (9801, 87025, 0.8541), "Fv3": (9801, 87025, 0.9993),
           "s1rmt3m1": (5489, 262411, 2.65), "Trefethen_2000": (2000, 41906, 0.8601), "Trefethen_20000": (20000, 554466, 0.8601)}
# Tables 2 and 3: iterations: average residual, largest less smallest over the average (from its first columns), standard deviation
TABLE_2 = {10: (7.8304e-2, 3.5885e-4, 4.0415e-6), 20: (6.3243e-3, 3.1782e-4, 3.3532e-7), 30: (5.1392e-4, 3.1716e-4, 2.7281e-8),
           40: (4.1902e-5, 4.2002e-4, 2.6021e-9), 50: (3.4238e-6, 3.7969e-4, 2.2226e-10), 60: (2.8019e-7, 4.7467e-4, 2.0271e-11),
           70: (2.2956e-8, 4.2254e-4, 1.7257e-12), 80: (1.8825e-9, 5.0995e-4, 1.6398e-13), 90: (1.5449e-10, 5.4372e-4, 1.3916e-14),
           100: (1.2685e-11, 5.2025e-4, 1.2139e-15), 110: (1.0422e-12, 6.9082e-4, 1.1338e-16), 120: (8.5725e-14, 6.6724e-4, 9.3962e-18),
           130: (7.1399e-15, 1.5823e-3, 2.1518e-18), 140: (9.2748e-16, 1.1608e-2, 1.7776e-18), 150: (6.5579e-16, 1.8243e-2, 1.9756e-18)}
TABLE_3 = {5: (8.0190e-4, 9.7614e-2, 1.2949e-5), 10: (8.4330e-6, 1.1282e-1, 1.6780e-7), 15: (8.8600e-8, 1.4462e-1, 2.2127e-9),
           20: (9.3022e-10, 1.6309e-1, 2.6468e-11), 25: (9.7817e-12, 1.8524e-1, 3.0767e-13), 30: (1.0260e-13, 2.1747e-1, 3.4778e-15),
           35: (1.0906e-15, 2.0818e-1, 3.9142e-17), 40: (1.1012e-16, 9.880e-2, 1.5767e-18), 45: (1.0811e-16, 3.2261e-2, 4.7479e-19),
           50: (1.0811e-16, 3.0875e-2, 4.7400e-19)}
# Table 4: seconds of 100, 200, ..., 500 iterations of async-(k) for Fv3
TABLE_4 = {1: (1.376425, 2.437521, 3.501462, 4.563519, 5.624792), 2: (1.431110, 2.546361, 3.660030, 4.773864, 5.891870),
           3: (1.482574, 2.654470, 3.819478, 4.987472, 6.156434), 4: (1.532940, 2.749808, 3.972644, 5.191812, 6.410378),
           5: (1.577105, 2.838185, 4.099068, 5.363081, 6.655686), 6: (1.629628, 2.938897, 4.255335, 5.569045, 6.879329),
           7: (1.680975, 3.044979, 4.412199, 5.778823, 7.144304), 8: (1.736295, 3.148895, 4.571684, 5.990520, 7.409536),
           9: (1.786658, 3.259132, 4.730689, 6.202893, 7.676786)}
# Table 5: seconds of an iteration of Gauss-Seidel (4 cores), Jacobi and async-(5) (GPU)
TABLE_5 = {"Chem97ZtZ": (0.008448, 0.002051, 0.001742), "Fv1": (0.120191, 0.019449, 0.012964), "Fv2": (0.125572, 0.020997, 0.014729),
           "Fv3": (0.125577, 0.021009, 0.014737), "Trefethen_2000": (0.007603, 0.001494, 0.001305)}
PAPER_5 = {"Trefethen_20000": "Trefethen_2000"}  # of which the paper has a time

FIGURE_9 = ["Chem97ZtZ", "Fv1", "Fv3", "Trefethen_20000"]  # Fv2 is as Fv1

METHODS = ["Jacobi", "Gauss-Seidel", "async-(1)", "async-(5)", "async-(5), stale", "async, gmg's default", "CG", "multigrid"]
LOWEST = 1e-10  # where iterations and seconds are compared


def plain(value):
    return f"{value:.3e}"


def more(value, base):
    return f"{round(100 * (value / base - 1))} %"


# --- theory ---

@functools.lru_cache
def stale_factor(n, eps, lines, k, dim=2, at_once=0):
    """Exact asymptotic factor of async-(k) on n x n unknowns (n x n x n: layers), blocks of so many whole lines, relaxed in order so many
    at once; 0: all of them, the deterministic twin. Along the lines the lowest sine mode decides, as all entries of Jacobi's matrix are
    at least 0; across them the power method does the iteration itself: k Jacobi sweeps in a block while its neighbours stand still."""
    c = math.cos(math.pi / (n + 1))
    within, across = 2 * (dim - 1) * c / (2 * dim + eps), 1 / (2 * dim + eps)
    e, factor = [math.sin(math.pi * (j + 1) / (n + 1)) for j in range(n)], 0
    together = lines * at_once or n
    for _ in range(8 * n if lines > 1 or at_once else 3):
        new = list(e)
        for first_line in range(0, n, together):
            seen = list(new)
            for begin in range(first_line, min(first_line + together, n), lines):
                end = min(begin + lines, n)
                below, above = seen[begin - 1] if begin else 0, seen[end] if end < n else 0
                x = seen[begin:end]
                for _ in range(k):
                    around = [below, *x, above]
                    x = [within * around[i + 1] + across * (around[i] + around[i + 2]) for i in range(len(x))]
                new[begin:end] = x
        factor = math.sqrt(sum(v * v for v in new) / sum(v * v for v in e))
        size = max(new)
        e = [v / size for v in new]
    return factor


# --- tables ---

def stand_ins(results):
    """The same in all files: shown of the device's."""
    rows = []
    for matrix, (unknowns, entries, rho) in TABLE_1.items():
        r = first(results, part="solvers", matrix=matrix, where="device")
        if not r:
            continue
        n, dim = r["n"], r["dim"]
        ours = n**dim + 2 * dim * (n - 1) * n ** (dim - 1)
        blocks = " x ".join(str(b) for b in first(results, part="solvers", matrix=matrix, method="async-(5)").get("block", ["not taken"]))
        rows.append([matrix, f"{unknowns}", f"{entries}", f"{rho}", f"{n}^{dim}" if dim > 1 else f"{n}", f"{ours}", number(r["eps"], 4), blocks])
    head = ["matrix", "unknowns", "entries", "rho(M)", "here: unknowns", "entries", "eps, for the same rho(M)", "blocks"]
    return table(head, rows) if rows else None


def spread_table(matrix, paper):
    def make(results):
        free = first(measured(results, part="spread", matrix=matrix, method="async-(5)", wait=0))
        wait = first(measured(results, part="spread", matrix=matrix, method="async-(5)", wait=1))
        twin = first(measured(results, part="spread", matrix=matrix, method="async-(5), stale"))
        if not free or not wait or not twin:
            return None
        runs = f"{free['runs']} runs, {wait['runs']} waiting, {twin['runs']} of the twin"
        ours = list(zip(*(free[c] for c in ("iterations", "average", "max", "min", "variance"))))
        theirs = [[str(at), plain(paper[at][0]), number(paper[at][1], 2), number(paper[at][2] ** 2, 2)] for at, *_ in ours]
        head = ["iterations", "paper: average", "rel. var.", "variance"]
        if all(r[c] == free["average"] and not any(r["variance"]) for r in (free, wait, twin) for c in ("average", "max", "min")):
            rows = [[*cells, plain(average)] for cells, (_, average, *_) in zip(theirs, ours)]
            return f"{runs}: all the same. Absolute and relative variation, variance and standard error are 0.\n\n{table([*head, 'here'], rows)}"
        rows = []
        for i, (_, average, most, least, variance) in enumerate(ours):
            relative = (wait["max"][i] - wait["min"][i]) / wait["average"][i]
            same = "0" if twin["max"][i] == twin["min"][i] else "NOT 0"
            rows.append([*theirs[i], plain(average), plain(most), plain(least), number((most - least) / average, 2), number(variance, 2),
                         number(math.sqrt(variance / free["runs"]), 2), plain(wait["average"][i]), number(relative, 2),
                         f"{plain(twin['average'][i])}; {same}"])
        head += ["here: average", "max", "min", "rel. var.", "variance", "st. error", "waiting: average", "rel. var.",
                 "twin: average; abs. var."]
        return f"{runs}.\n\n{table(head, rows)}"
    return make


def sweeps_table(results):
    rows = []
    base = first(measured(results, part="sweeps", method="async-(1)"))
    for k in range(1, 10):
        r = first(measured(results, part="sweeps", method=f"async-({k})"))
        twin = first(measured(results, part="sweeps", method=f"async-({k}), stale"))
        if not r or not twin or not base:
            continue
        theory = [stale_factor(twin["n"], twin["eps"], twin["block"][1], k, at_once=a) for a in (0, 1)]
        one, first_one, f = r["seconds_per_iteration"]["median"], base["seconds_per_iteration"]["median"], r["factor"]
        factor = f"{f['median']:.5f}" + (f" ({f['min']:.5f} - {f['max']:.5f})" if f["max"] - f["min"] > 1e-5 else "")
        rows.append([str(k), number(TABLE_4[k][-1], 4), more(TABLE_4[k][-1], TABLE_4[1][-1]), spread(r, "seconds_per_iteration"),
                     more(one, first_one), factor, f"{twin['factor']['median']:.5f}", " / ".join(f"{t:.5f}" for t in theory),
                     number(one / -math.log10(f["median"]))])
    head = ["k", "paper: 500 iterations, s", "overhead", "here: an iteration, s", "overhead", "reduction an iteration", "twin",
            "theory: all blocks at once / in order", "seconds for a tenth"]
    return table(head, rows) if rows else None


def large_table(results):
    records = [r for k in range(1, 10) for r in measured(results, part="large", method=f"async-({k})")]
    if not records:
        return None
    seconds = [r["seconds_per_iteration"]["median"] for r in records]
    widest = max((r["seconds_per_iteration"]["max"] - r["seconds_per_iteration"]["min"]) / s for r, s in zip(records, seconds))
    rows = [["seconds an iteration", *(number(s) for s in seconds)], ["overhead", *(more(s, seconds[0]) for s in seconds)]]
    return f"Largest less smallest is at most {100 * widest:.0f} % of the median.\n\n" + table(
        [f"{records[0]['n']}^2, k", *(str(r["local"]) for r in records)], rows)


def timing_table(results):
    rows = [[r["method"], *(f"{number(s)} ({number(l)})" for s, l in zip(r["seconds_per_iteration"], r["least"]))]
            for r in measured(results, part="timing")]
    counts = next((r["iterations"] for r in measured(results, part="timing")), [])
    return table(["seconds an iteration, in calls of", *(f"{c}" for c in counts)], rows) if rows else None


def iteration_table(results):
    rows = []
    for matrix in TABLE_1:
        ours = [first(measured(results, part="solvers", matrix=matrix, method=m)) for m in ("Gauss-Seidel", "Jacobi", "async-(5)")]
        if not any(ours):
            continue
        paper = TABLE_5[PAPER_5.get(matrix, matrix)]
        name = f"{matrix} (paper: {PAPER_5[matrix]})" if matrix in PAPER_5 else matrix
        rows.append([name, " / ".join(number(t, 3) for t in paper), *(spread(r, "seconds_per_iteration") if r else "" for r in ours)])
    return table(["matrix", "paper: Gauss-Seidel / Jacobi / async-(5)", "Gauss-Seidel", "Jacobi", "async-(5)"], rows) if rows else None


def curve(record, key):
    """Where a curve's points are, in iterations or in seconds of the fastest run, and its residuals."""
    if key == "iterations":
        return record["iterations"], record["residual"]
    if record["method"] == "CG":
        seconds = record.get("least_seconds", record["seconds"])  # a run to less takes no longer than the fastest one to more
        return [0, *(min(seconds[i:]) for i in range(len(seconds)))], [1, *record["reached"]]
    if record["method"] == "multigrid":
        return record.get("least_seconds", record["seconds"]), record["residual"]
    return [i * record["seconds_per_iteration"]["min"] for i in record["iterations"]], record["residual"]


def reached_at(record, key, level=LOWEST):
    """Iterations or seconds at which the residual falls below the level, between points by its logarithm; None where it does not."""
    where, residual = curve(record, key)
    for i in range(1, len(residual)):
        if residual[i] <= level:
            part = math.log(level / residual[i - 1]) / math.log(residual[i] / residual[i - 1])
            return where[i - 1] + part * (where[i] - where[i - 1])
    return None


def beyond(record, key):
    """The same, or, for what is slow, from the factor."""
    at = reached_at(record, key)
    if at is not None:
        return number(at, 3)
    if "factor" not in record:
        return "not reached"
    last, factor = record["residual"][-1], record["factor"]["median"]
    steps = record["iterations"][-1] + math.log(LOWEST / last) / math.log(factor)
    return f"~ {number(steps if key == 'iterations' else steps * record['seconds_per_iteration']['min'], 3)}"


def factor_table(results):
    rows = []
    for matrix in TABLE_1:
        cells = []
        for m in METHODS[:6]:
            r = first(measured(results, part="solvers", matrix=matrix, method=m))
            f = r.get("factor") if r else None
            # 1 - factor says more where it is near 1
            one = f and (f"{f['median']:.4f}" if f["max"] - f["min"] < 5e-5 else f"{f['median']:.4f} ({f['min']:.4f} - {f['max']:.4f})")
            theory = {"Jacobi": 1, "Gauss-Seidel": 2}.get(m)
            cells.append((one or "") + (f"; {r['rho'] ** theory:.4f}" if theory and r else ""))
        if any(cells):
            rows.append([matrix, *cells])
    head = ["matrix", "Jacobi; rho", "Gauss-Seidel; rho^2", *METHODS[2:6]]
    return table(head, rows) if rows else None


def solve_table(results):
    rows = []
    for matrix in FIGURE_9:
        records = [first(measured(results, part="solvers", matrix=matrix, method=m)) for m in METHODS]
        if any(records):
            rows.append([matrix, *(f"{beyond(r, 'iterations')}; {beyond(r, 'seconds')}" if r else "" for r in records)])
    return table(["matrix", *METHODS], rows) if rows else None


TABLES = {"stand-ins": stand_ins, "table-2": spread_table("Fv1", TABLE_2), "table-3": spread_table("Trefethen_20000", TABLE_3),
          "table-4": sweeps_table, "large": large_table, "table-5": iteration_table, "figure-8": timing_table, "figures-6-7": factor_table,
          "figure-9": solve_table}
