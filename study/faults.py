"""The tables of docs/study-faults.md (page.py fills them in)."""
from page import first, number, select, spread, table, values

PAGE = "study-faults.md"
FILES = ["faults-device*.json", "faults-host.json"]
MATRICES = [("Fv1", 2), ("Trefethen_2000", 1), ("Trefethen_2000", 3), ("Fv3", 2)]
METHODS = ["async-(5)", "async-(5), stale"]
WAITS = ["recover-(10)", "recover-(20)", "recover-(30)"]
KINDS = ["blocks lost", "bit flipped in a level's u", "bit flipped in the caller's u", "correction lost"]

# Table 6 of the paper: computation time in addition, in percent.
PAPER = {"Fv1": (8.16, 19.50, 31.66), "Trefethen_2000": (8.16, 11.45, 16.61)}


def shape(record):
    return f"{record['n']}^{record['dim']}" if record["dim"] > 1 else number(record["n"])


def relaxation_rows(results, lost):
    for matrix, dim in MATRICES:
        for method in METHODS:
            same = {"part": "relaxation", "matrix": matrix, "dim": dim, "method": method, "lost": lost}
            plain = first(results, recovery="undisturbed", **same)
            if plain:
                yield plain, [first(results, recovery=w, **same) for w in WAITS], first(results, recovery="no recovery", **same)


def alike(rows, method):
    """Rows that follow one another and differ in the method alone become one."""
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
        rows.append([plain["matrix"], shape(plain), "x".join(map(number, plain["block"])), plain["method"], spread(plain, "passes"), paper or "not there",
                     *[f"{spread(w, 'percent')} %; {spread(w, 'extra')}" for w in waits]])
    head = ["matrix", "size", "block", "method", "passes, undisturbed", "paper: time in % after 10 / 20 / 30", *[f"{w}: passes in %; passes" for w in WAITS]]
    return table(head, alike(rows, head.index("method"))) if rows else None


def scattered_table(results):
    rows = []
    for plain, waits, never in relaxation_rows(results, "unknowns"):
        blocks = first(results, part="relaxation", matrix=plain["matrix"], dim=plain["dim"], method=plain["method"], lost="blocks", recovery="no recovery")
        rows.append([plain["matrix"], shape(plain), plain["method"], *[spread(w, "extra") for w in waits], spread(never, "last"), spread(blocks, "last"), spread(blocks, "working")])
    head = ["matrix", "size", "method", *[f"unknowns, {w}: passes more" for w in WAITS], "unknowns, no recovery: residual", "blocks, no recovery: residual",
            "of it in the blocks that work"]
    return table(head, alike(rows, head.index("method"))) if rows else None


def outcome_row(name, sizes, wards, control):
    """Of all sizes together. What ended neither well nor as diverged is one number: stagnated, at the cycle limit, with an error."""
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
    """In a cell: flipped; most extra cycles; diverged."""
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


TABLES = {"percent": percent_table, "scattered": scattered_table, "outcome": outcome_table, "kind": kind_table, "bits": bits_table}
