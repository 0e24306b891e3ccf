"""The tables of docs/study-faults.md (page.py fills them in)."""
import math
import statistics

from page import first, number, select, spread, table, values
from relaxation import stale_factor

PAGE = "study-faults.md"
FILES = ["faults-device*.json", "faults-host.json"]
ONCE = ["percent", "scattered"]  # the file with most runs comes first
MATRICES = [("Fv1", 2), ("Trefethen_2000", 1), ("Trefethen_2000", 3), ("Fv3", 2)]
METHODS = ["async-(5)", "async-(5), stale"]
WAITS = ["recover-(10)", "recover-(20)", "recover-(30)"]
KINDS = ["blocks lost", "bit flipped in a level's u", "bit flipped in the caller's u", "correction lost"]

# Table 6 of the paper: computation time in addition, in percent.
PAPER = {"Fv1": (8.16, 19.50, 31.66), "Trefethen_2000": (8.16, 11.45, 16.61)}


def shape(record):
    return f"{record['n']}^{record['dim']}" if record["dim"] > 1 else number(record["n"])


def relaxation_rows(results, lost):
    """Leaves out what a stopped run has only in part."""
    for matrix, dim in MATRICES:
        for method in METHODS:
            same = {"part": "relaxation", "matrix": matrix, "dim": dim, "method": method, "lost": lost}
            plain = first(results, recovery="undisturbed", **same)
            broken = [first(results, recovery=r, **same) for r in [*WAITS, "no recovery"]]
            if plain and all(broken):
                yield plain, broken[:-1], broken[-1]


def alike(rows, method):
    """Joins consecutive rows that differ only in the method."""
    joined = []
    for row in rows:
        if joined and [*joined[-1][:method], *joined[-1][method + 1:]] == [*row[:method], *row[method + 1:]]:
            joined[-1][method] = "both, alike"
        else:
            joined.append(list(row))
    return joined


def percent_table(results):
    rows = []
    for plain, waits, _ in relaxation_rows(results, "blocks"):
        paper = " / ".join(number(x, 4) for x in PAPER.get(plain["matrix"], ()))
        rows.append([plain["matrix"], shape(plain), "x".join(map(number, plain["block"])), plain["method"], str(plain["passes"]["runs"]),
                     spread(plain, "passes"), paper or "not there",
                     *[f"{spread(w, 'percent')} %; {spread(w, 'extra')}" for w in waits]])
    head = ["matrix", "size", "block", "method", "runs", "passes, undisturbed", "paper: time in % after 10 / 20 / 30",
            *[f"{w}: passes in %; passes" for w in WAITS]]
    return table(head, alike(rows, head.index("method"))) if rows else None


def scattered_table(results):
    rows = []
    for plain, waits, never in relaxation_rows(results, "unknowns"):
        blocks = first(results, part="relaxation", matrix=plain["matrix"], dim=plain["dim"], method=plain["method"], lost="blocks", recovery="no recovery")
        rows.append([plain["matrix"], shape(plain), plain["method"], *[spread(w, "extra") for w in waits], spread(never, "last"), spread(blocks, "last"), spread(blocks, "working")])
    head = ["matrix", "size", "method", *[f"unknowns, {w}: passes more" for w in WAITS], "unknowns, no recovery: residual", "blocks, no recovery: residual",
            "of it in the blocks that work"]
    return table(head, alike(rows, head.index("method"))) if rows else None


# --- theory ---

def random_numbers(state):
    """splitmix64, uniform from 0 to 1."""
    mask = (1 << 64) - 1
    while True:
        state = (state + 0x9E3779B97F4A7C15) & mask
        z = ((state ^ (state >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        yield ((z ^ (z >> 31)) >> 11) * 2.0**-53


def lost_blocks(seed, total):
    """A quarter of the blocks."""
    numbers, left, lost = random_numbers(seed), math.floor(total / 4 + 0.5), set()
    for b in range(total):
        if next(numbers) * (total - b) < left:
            lost.add(b)
            left -= 1
    return lost


def stale_pass(u, f, diagonal, lost):
    """async-(5), blocks of a line; each sees its neighbours as they were before the pass. lost: unknowns that stay, by line and place."""
    none, new = [0.0] * len(u), []
    for j, line in enumerate(u):
        around = [sum(terms) for terms in zip(f[j], u[j - 1] if j else none, u[j + 1] if j + 1 < len(u) else none)]
        x = line
        for _ in range(5):
            x = [(b + left + right) / diagonal for b, left, right in zip(around, [0.0, *x], [*x[1:], 0.0])]
        new.append([old if (j, i) in lost else now for i, (old, now) in enumerate(zip(line, x))])
    return new


def slowest_mode(n, eps, seed, scattered):
    """The passes predicted from the slowest sine mode of the error: without a fault, and the extra passes after 10, 20 and 30 passes
    without a quarter of the blocks. Once nothing is lost the mode falls by the same factor in every pass, and in the end it alone remains."""
    factor, diagonal = stale_factor(n, eps, 1, 5), 4 + eps
    sine = [math.sin(math.pi * (i + 1) / (n + 1)) for i in range(n)]
    f = [[((j * n + i) * 7919 % 101 - 50) / 50 for i in range(n)] for j in range(n)]
    lowest = diagonal - 4 * math.cos(math.pi / (n + 1))  # eigenvalue

    def mode(field):
        return 2 / (n + 1) * sum(a * sum(b * v for b, v in zip(sine, line)) for a, line in zip(sine, field))

    marks = lost_blocks(seed, n * n if scattered else n)
    lost = {divmod(m, n) for m in marks} if scattered else {(j, i) for j in marks for i in range(n)}
    u, delays = [[0.0] * n for _ in range(n)], []
    for p in range(40):
        u = stale_pass(u, f, diagonal, lost if p >= 10 else ())
        if p + 1 in (20, 30, 40):
            left = (mode(f) / lowest - mode(u)) / (mode(f) / lowest * factor ** (p + 1))
            delays.append(math.log(left) / -math.log(factor))
    first_residual = math.sqrt(sum(v * v for line in f for v in line))
    return math.log(abs(mode(f)) / first_residual / 1e-12) / -math.log(factor), delays


def slowest_table(results):
    """The problems that need thousands of passes."""
    rows = []
    for lost in ("blocks", "unknowns"):
        for plain, waits, _ in relaxation_rows(results, lost):
            if plain["matrix"] != "Fv3":
                continue
            theory = [slowest_mode(plain["n"], plain["eps"], seed + 1, lost == "unknowns") for seed in range(plain["passes"]["runs"])]
            cells = []
            for i, w in enumerate(waits):
                delays = [d[i] for _, d in theory]
                cells.append(f"{spread(w, 'extra')}; {statistics.median(delays):.1f} ({min(delays):.1f} - {max(delays):.1f})")
            rows.append([plain["matrix"], plain["method"], lost, f"{spread(plain, 'passes')}; {theory[0][0]:.1f}", *cells])
    head = ["matrix", "method", "lost", "passes, undisturbed; theory", *[f"{w}: passes more; theory" for w in WAITS]]
    return table(head, alike(rows, head.index("method"))) if rows else None


# --- multigrid ---

def outcome_row(name, sizes, wards, control):
    """Sums over all sizes. Solves that stagnated, met the cycle limit or ended with an error are one number."""
    def total(*names):
        return number(sum(r[n] for r in wards for n in names))

    return [name, sizes, total("faults"), total("converged"), total("diverged"), total("stagnated", "not_converged", "errors"),
            number(max(more for r in wards for more in r["extra"])), f"**{total('wrong')}**", total("misreported"),
            f"{total('unusable')} of {total('again')}", f"{sum(c['found_wrong'] for c in control)} of {sum(c['said_to_converge'] for c in control)}"]


def outcome_table(results):
    wards, control, rows = select(results, part="ward"), select(results, part="control"), []
    for way in values(wards, "way"):
        own = select(wards, way=way)
        rows.append(outcome_row(way, ", ".join(f"{shape(r)}: {r['undisturbed']}" for r in own), own, select(control, way=way)))
    if not rows:
        return None
    head = ["cycles", "how many undisturbed", "faults", "converged", "diverged", "ended otherwise", "most extra cycles", "wrong, told as converged",
            "residual told wrongly", "unusable afterwards", "control: late flips found"]
    return table(head, [*rows, outcome_row("all", "", wards, control)])


def merged(records):
    """Extra cycles of all, as a dictionary; how many ended otherwise; how many there were."""
    extra = {}
    for r in records:
        for more, times in zip(r["extra"], r["times"]):
            extra[more] = extra.get(more, 0) + times
    faults = sum(r["faults"] for r in records)
    return extra, faults - sum(extra.values()), faults


def level_name(level):
    return "caller's u" if level < 0 else str(level)


def kind_table(results):
    rows = []
    for kind in KINDS:
        of_kind = select(results, part="multigrid", kind=kind)
        for level in sorted(set(values(of_kind, "level"))):
            extra, lost, faults = merged(select(of_kind, level=level))
            cells = [sum(t for more, t in extra.items() if low <= more <= high) for low, high in ((-99, 0), (1, 1), (2, 2), (3, 3), (4, 99))]
            rows.append([kind, level_name(level), number(faults), *[number(c) if c else "" for c in cells], number(lost) if lost else ""])
    head = ["fault", "level", "faults", "no extra cycle", "1", "2", "3", "4 and more", "diverged"]
    return table(head, rows) if rows else None


def bit_classes(record):
    """Fraction, exponent (its highest bit apart), sign."""
    fraction = 23 if record["type"] == "float" else 52
    many = len(record["count"])
    return {"fraction": range(fraction), "exponent but its highest bit": range(fraction, many - 2), "highest bit of the exponent": range(many - 2, many - 1),
            "sign": range(many - 1, many)}


BIT_CLASSES = ["fraction", "exponent but its highest bit", "highest bit of the exponent", "sign"]


def bits_table(results):
    """Cells: flips; most extra cycles; diverged solves."""
    sums = {}
    for r in select(results, part="bits"):
        places = bit_classes(r)
        of_kind = sums.setdefault((KINDS.index(r["kind"]), r["type"]), [(0, 0, 0)] * len(BIT_CLASSES))
        for i, name in enumerate(BIT_CLASSES):
            count, worst, lost = of_kind[i]
            of_kind[i] = (count + sum(r["count"][p] for p in places[name]), max([worst, *[r["most_extra"][p] for p in places[name]]]),
                          lost + sum(r["not_converged"][p] for p in places[name]))
    rows = [[KINDS[kind], kind_of, *["; ".join(map(number, numbers)) for numbers in classes]] for (kind, kind_of), classes in sorted(sums.items())]
    return table(["fault", "type", *BIT_CLASSES], rows) if rows else None


TABLES = {"percent": percent_table, "scattered": scattered_table, "slowest": slowest_table, "outcome": outcome_table, "kind": kind_table, "bits": bits_table}
