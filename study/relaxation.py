"""The tables of docs/study-relaxation.md (page.py fills them in), the paper's numbers and the theory."""
import functools
import math

from page import first, measured, number, spread, table

PAGE = "study-relaxation.md"
FILES = ["relaxation-device*.json", "relaxation-host-spread.json", "relaxation-host-1-thread.json", "relaxation-host-large.json",
         "relaxation-host.json"]
ONCE = ["table-2", "table-3", "spread-range"]  # the file with most runs comes first

# Anzt, Tomov, Dongarra, Heuveline (2013). Table 1: unknowns, entries, spectral radius of Jacobi's matrix.
TABLE_1 = {"Chem97ZtZ": (2541, 7361, 0.7889), "Fv1": (9604, 85264, 0.8541), "Fv2": (9801, 87025, 0.8541), "Fv3": (9801, 87025, 0.9993),
           "s1rmt3m1": (5489, 262411, 2.65), "Trefethen_2000": (2000, 41906, 0.8601), "Trefethen_20000": (20000, 554466, 0.8601)}
# Tables 2 and 3: iterations: average, largest and smallest residual; their difference, that over the average; variance; standard error. The
# first relative variation of Table 3, 9.7614e-3 in print, is as its other columns have it.
TABLE_2 = {10: (7.8304e-2, 7.8313e-2, 7.8285e-2, 2.8111e-5, 3.5885e-4, 1.6334e-11, 2.0233e-7),
           20: (6.3243e-3, 6.3251e-3, 6.3231e-3, 2.0125e-6, 3.1782e-4, 1.1244e-13, 1.6787e-8),
           30: (5.1392e-4, 5.14e-4, 5.1383e-4, 1.631e-7, 3.1716e-4, 7.4425e-16, 1.3657e-9),
           40: (4.1902e-5, 4.1912e-5, 4.1895e-5, 1.7607e-8, 4.2002e-4, 6.7713e-18, 1.3027e-10),
           50: (3.4238e-6, 3.4244e-6, 3.4231e-6, 1.3232e-9, 3.7969e-4, 4.9401e-20, 1.1127e-11),
           60: (2.8019e-7, 2.8026e-7, 2.8012e-7, 1.3318e-10, 4.7467e-4, 4.1092e-22, 1.0148e-12),
           70: (2.2956e-8, 2.2961e-8, 2.2951e-8, 9.7834e-12, 4.2254e-4, 2.9781e-24, 8.6395e-14),
           80: (1.8825e-9, 1.8829e-9, 1.882e-9, 9.6127e-13, 5.0995e-4, 2.6892e-26, 8.2096e-15),
           90: (1.5449e-10, 1.5453e-10, 1.5445e-10, 8.4035e-14, 5.4372e-4, 1.9368e-28, 6.9672e-16),
           100: (1.2685e-11, 1.2689e-11, 1.2682e-11, 6.653e-15, 5.2025e-4, 1.4737e-30, 6.0775e-17),
           110: (1.0422e-12, 1.0426e-12, 1.0418e-12, 7.2436e-16, 6.9082e-4, 1.2855e-32, 5.6761e-18),
           120: (8.5725e-14, 8.5753e-14, 8.5695e-14, 5.7262e-17, 6.6724e-4, 8.8288e-35, 4.7039e-19),
           130: (7.1399e-15, 7.1458e-15, 7.1345e-15, 1.1334e-17, 1.5823e-3, 4.6302e-36, 1.0772e-19),
           140: (9.2748e-16, 9.3342e-16, 9.2265e-16, 1.0767e-17, 1.1608e-2, 3.1601e-36, 8.8994e-20),
           150: (6.5579e-16, 6.6219e-16, 6.5022e-16, 1.1964e-17, 1.8243e-2, 3.9031e-36, 9.8905e-20)}
TABLE_3 = {5: (8.019e-4, 8.1516e-4, 7.3689e-4, 7.8277e-5, 9.7614e-2, 1.6769e-10, 4.097e-7),
           10: (8.433e-6, 8.6821e-6, 7.7307e-6, 9.5147e-7, 1.1282e-1, 2.8159e-14, 5.3091e-9),
           15: (8.86e-8, 9.2472e-8, 7.9658e-8, 1.2813e-8, 1.4462e-1, 4.8964e-18, 7.0009e-11),
           20: (9.3022e-10, 9.8491e-10, 8.3319e-10, 1.5171e-10, 1.6309e-1, 7.0058e-22, 8.3742e-13),
           25: (9.7817e-12, 1.0427e-11, 8.6158e-12, 1.812e-12, 1.8524e-1, 9.4666e-26, 9.7345e-15),
           30: (1.026e-13, 1.1038e-13, 8.8065e-14, 2.2314e-14, 2.1747e-1, 1.2095e-29, 1.1003e-16),
           35: (1.0906e-15, 1.196e-15, 9.6899e-16, 2.2705e-16, 2.0818e-1, 1.5321e-33, 1.2384e-18),
           40: (1.1012e-16, 1.1843e-16, 1.0755e-16, 1.0881e-17, 0.988e-1, 2.4862e-36, 4.9887e-20),
           45: (1.0811e-16, 1.1041e-16, 1.0692e-16, 3.488e-18, 3.2261e-2, 2.2543e-37, 1.5021e-20),
           50: (1.0811e-16, 1.1057e-16, 1.0723e-16, 3.3381e-18, 3.0875e-2, 2.2468e-37, 1.4996e-20)}
# Table 4: seconds of 100, 200, ..., 500 iterations of async-(k) for Fv3
TABLE_4 = {1: (1.376425, 2.437521, 3.501462, 4.563519, 5.624792), 2: (1.431110, 2.546361, 3.660030, 4.773864, 5.891870),
           3: (1.482574, 2.654470, 3.819478, 4.987472, 6.156434), 4: (1.532940, 2.749808, 3.972644, 5.191812, 6.410378),
           5: (1.577105, 2.838185, 4.099068, 5.363081, 6.655686), 6: (1.629628, 2.938897, 4.255335, 5.569045, 6.879329),
           7: (1.680975, 3.044979, 4.412199, 5.778823, 7.144304), 8: (1.736295, 3.148895, 4.571684, 5.990520, 7.409536),
           9: (1.786658, 3.259132, 4.730689, 6.202893, 7.676786)}
# Table 5: seconds of an iteration of Gauss-Seidel (4 cores), Jacobi and async-(5) (GPU)
TABLE_5 = {"Chem97ZtZ": (0.008448, 0.002051, 0.001742), "Fv1": (0.120191, 0.019449, 0.012964), "Fv2": (0.125572, 0.020997, 0.014729),
           "Fv3": (0.125577, 0.021009, 0.014737), "s1rmt3m1": (0.03953, 0.006442, 0.004967), "Trefethen_2000": (0.007603, 0.001494, 0.001305)}
PAPER_5 = {"Trefethen_20000": "Trefethen_2000"}  # of which the paper has a time
NO_STENCIL = "s1rmt3m1"

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
    """The stencils. All files have the same, so the table is made from the device's."""
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


COLUMNS = ["average", "max", "min", "abs. var.", "rel. var.", "variance", "st. error"]


def statistics(record, i):
    """COLUMNS at its i-th count of iterations."""
    average, most, least, variance = (record[c][i] for c in ("average", "max", "min", "variance"))
    return average, most, least, most - least, (most - least) / average, variance, math.sqrt(variance / record["runs"])


def cells(row, digits=3):
    return [*(f"{v:.{digits}e}" for v in row[:3]), *(number(v, 2) for v in row[3:])]


def spread_table(matrix, paper):
    def make(results):
        free = first(measured(results, part="spread", matrix=matrix, method="async-(5)", wait=0))
        wait = first(measured(results, part="spread", matrix=matrix, method="async-(5)", wait=1))
        twin = first(measured(results, part="spread", matrix=matrix, method="async-(5), stale"))
        if not free or not wait or not twin:
            return None
        runs = f"{free['runs']} runs, {wait['runs']} waiting, {twin['runs']} of the twin"
        place = {at: i for i, at in enumerate(free["iterations"])}
        head = ["iterations", f"paper: {COLUMNS[0]}", *COLUMNS[1:]]
        if all(r[c] == free["average"] and not any(r["variance"]) for r in (free, wait, twin) for c in ("average", "max", "min")):
            rows = [[str(at), *cells(paper[at], 4), plain(free["average"][place[at]]) if at in place else "not run"] for at in paper]
            return f"{runs}: all the same, so that variations, variance and standard error are 0.\n\n{table([*head, 'here'], rows)}"
        beside = []
        for at, theirs in paper.items():
            ours = cells(statistics(free, place[at])) if at in place else ["not run"] * len(COLUMNS)
            beside.append([str(at), *(f"{p}; {o}" for p, o in zip(cells(theirs, 4), ours))])
        waiting = [[str(at), *cells(statistics(wait, i)), plain(twin["average"][i]), "0" if twin["max"][i] == twin["min"][i] else "NOT 0"]
                   for at, i in place.items()]
        return (f"{runs}. In a cell: the paper's; here, where nothing waits.\n\n{table(['iterations', *COLUMNS], beside)}\n\nWaiting after every "
                f"iteration, and the twin:\n\n{table(['iterations', *COLUMNS, 'twin: average', 'abs. var.'], waiting)}")
    return make


FLOOR = 1e-14  # below, rounding has a part in the residual


def range_table(results):
    """The differences between runs, over the iterations before the floor."""
    rows = []
    for r in [r for matrix in ("Fv1", "Trefethen_20000") for r in measured(results, part="spread", matrix=matrix, method="async-(5)")]:
        twin = first(measured(results, part="spread", matrix=r["matrix"], method="async-(5), stale"))
        marks = [i for i, a in enumerate(r["average"]) if a > FLOOR]
        if not twin or not any(r["variance"]):
            continue
        steps = r["iterations"][marks[-1]] - r["iterations"][marks[2]]
        falls = [f"{(r[c][marks[-1]] / r[c][marks[2]]) ** (1 / steps):.3f}" for c in ("average", "min", "max")]
        relative = [statistics(r, i)[COLUMNS.index("rel. var.")] for i in marks]
        behind = [r["iterations"][i] for i in marks if r["max"][i] > twin["average"][i]]
        ends = f"{r['iterations'][marks[2]]} - {r['iterations'][marks[-1]]}"
        rows.append([r["matrix"], "waiting" if r["wait"] else "nothing waits", str(r["runs"]), ends, *falls,
                     f"{number(min(relative), 2)} - {number(max(relative), 2)}",
                     number(max(r["average"][i] / r["min"][i] for i in marks)), number(max(r["max"][i] / r["average"][i] for i in marks)),
                     str(behind[-1]) if behind else "never"])
    head = ["matrix", "", "runs", "iterations", "reduction in each: of the average", "of the smallest", "of the largest",
            "rel. var., from the first on", "average / smallest, at most", "largest / average, at most", "a run behind the twin, last"]
    return table(head, rows) if rows else None


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
        overheads = " / ".join(str(round(100 * (s / s_1 - 1))) for s, s_1 in zip(TABLE_4[k], TABLE_4[1]))
        rows.append([str(k), " / ".join(f"{s:.3f}" for s in TABLE_4[k]), f"{overheads} %", spread(r, "seconds_per_iteration"),
                     more(one, first_one), factor, f"{twin['factor']['median']:.5f}", " / ".join(f"{t:.5f}" for t in theory),
                     number(one / -math.log10(f["median"]))])
    head = ["k", "paper: 100 / 200 / 300 / 400 / 500 iterations, s", "overhead", "here: an iteration, s", "overhead", "reduction an iteration",
            "twin", "theory: all blocks at once / in order", "seconds for a tenth"]
    return table(head, rows) if rows else None


def large_table(results):
    records = [r for k in range(1, 10) for r in measured(results, part="large", method=f"async-({k})")]
    if not records:
        return None
    seconds = {c: [r["seconds_per_iteration"][c] for r in records] for c in ("median", "min", "max")}
    widest = max((high - low) / s for s, low, high in zip(seconds["median"], seconds["min"], seconds["max"]))
    rows = [[f"seconds an iteration, {name}", *(number(s) for s in seconds[c])] for c, name in
            (("median", "median"), ("min", "smallest"), ("max", "largest"))]
    rows.append(["overhead, by the medians", *(more(s, seconds["median"][0]) for s in seconds["median"])])
    many = records[0]["seconds_per_iteration"]["runs"]
    return f"{many} iterations each; largest less smallest is at most {100 * widest:.0f} % of the median.\n\n" + table(
        [f"{records[0]['n']}^2, k", *(str(r["local"]) for r in records)], rows)


def timing_table(results):
    rows = [[r["method"], *(f"{number(s)} ({number(l)} - {number(m)})" for s, l, m in zip(r["seconds_per_iteration"], r["least"], r["most"]))]
            for r in measured(results, part="timing")]
    counts = next((r["iterations"] for r in measured(results, part="timing")), [])
    return table(["seconds an iteration, in calls of", *(f"{c}" for c in counts)], rows) if rows else None


def iteration_table(results):
    rows = []
    for matrix in TABLE_1 if measured(results, part="solvers") else []:
        ours = [first(measured(results, part="solvers", matrix=matrix, method=m)) for m in ("Gauss-Seidel", "Jacobi", "async-(5)")]
        if not any(ours) and matrix != NO_STENCIL:
            continue
        paper = TABLE_5[PAPER_5.get(matrix, matrix)]
        name = f"{matrix} (paper: {PAPER_5[matrix]})" if matrix in PAPER_5 else matrix
        rows.append([name, " / ".join(number(t, 3) for t in paper),
                     *(spread(r, "seconds_per_iteration") if r else "no counterpart" if matrix == NO_STENCIL else "" for r in ours)])
    return table(["matrix", "paper: Gauss-Seidel / Jacobi / async-(5)", "Gauss-Seidel", "Jacobi", "async-(5)"], rows) if rows else None


def curve(record, key, median=False):
    """The points of a curve, in iterations or in seconds of the fastest (or the median) run, and its residuals."""
    if key == "iterations":
        return record["iterations"], record["residual"]
    if record["method"] in ("CG", "multigrid"):
        seconds = record["seconds"] if median else record.get("least_seconds", record["seconds"])
        if record["method"] == "multigrid":
            return seconds, record["residual"]
        # a run to less takes no longer than the fastest one to more
        return [0, *(min(seconds[i:]) for i in range(len(seconds)))], [1, *record["reached"]]
    return [i * record["seconds_per_iteration"]["median" if median else "min"] for i in record["iterations"]], record["residual"]


def reached_at(record, key, median=False):
    """Iterations or seconds at which the residual falls below LOWEST, between points by its logarithm; None where it does not."""
    where, residual = curve(record, key, median)
    for i in range(1, len(residual)):
        if residual[i] <= LOWEST:
            part = math.log(LOWEST / residual[i - 1]) / math.log(residual[i] / residual[i - 1])
            return where[i - 1] + part * (where[i] - where[i - 1])
    return None


def beyond(record, key, median=False):
    """Like reached_at(); for slow methods extrapolated by the factor."""
    at = reached_at(record, key, median)
    if at is not None:
        return number(at, 3)
    if "factor" not in record:
        return "not reached"
    last, factor = record["residual"][-1], record["factor"]["median"]
    steps = record["iterations"][-1] + math.log(LOWEST / last) / math.log(factor)
    return f"~ {number(steps if key == 'iterations' else steps * record['seconds_per_iteration']['median' if median else 'min'], 3)}"


def solve_cell(record):
    fastest, median = beyond(record, "seconds"), beyond(record, "seconds", median=True).removeprefix("~ ")
    return f"{beyond(record, 'iterations')}; {fastest} ({median})"


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
            rows.append([matrix, *(solve_cell(r) if r else "" for r in records)])
    return table(["matrix", *METHODS], rows) if rows else None


TABLES = {"stand-ins": stand_ins, "table-2": spread_table("Fv1", TABLE_2), "table-3": spread_table("Trefethen_20000", TABLE_3),
          "spread-range": range_table,
          "table-4": sweeps_table, "large": large_table, "table-5": iteration_table, "figure-8": timing_table, "figures-6-7": factor_table,
          "figure-9": solve_table}
