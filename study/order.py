"""The tables of docs/study-order.md (page.py fills them in)."""
from page import first, number, select, spread, table, values

PAGE = "study-order.md"
FILES = ["order-device*.json", "order-host.json"]
ORDERS = ["natural", "backward", "random", "two-colour"]
TURNING = "natural, then backward"

# The paper's numbers: nonlinear residual after 5 sweeps (Table 3), seconds and residual over blockings (Table 4), over blocks in flight on a
# multiprocessor (Table 5), of the Laplacians.
TABLE_3 = {"L2D": {"natural": 1.58e-4, "backward": 2.30e-3, "random": 1.27e-3},
           "L3D": {"natural": 1.35e-3, "backward": 7.17e-3, "random": 3.25e-3}}
TABLE_4 = {"random": (20.0e-2, 2.66e-3), "2": (5.54e-2, 3.08e-3), "4": (5.37e-2, 4.35e-3),
           "8": (5.15e-2, 4.86e-3), "16": (4.96e-2, 4.63e-3), "32": (4.89e-2, 1.87e-3), "64": (4.78e-2, 1.35e-3),
           "RCM": (4.92e-2, 1.58e-3)}
TABLE_5 = {16: (4.88e-2, 1.35e-3), 8: (4.57e-2, 1.22e-3), 5: (5.89e-2, 1.16e-3),
           4: (7.01e-2, 1.14e-3), 2: (1.33e-1, 9.84e-4), 1: (2.62e-1, 8.00e-4)}


def size(r):
    return f"{r['n']}^{r['dim']}" if r["dim"] > 1 else number(r["n"])


def cell(record, name="factor", digits=3):
    return record["skipped"] if record and "skipped" in record else spread(record, name, digits) if record else ""


def settings(rows, *keys):
    return list(dict.fromkeys(tuple(r[key] for key in keys) for r in rows))


def of_setting(rows, keys, values_):
    return [r for r in rows if all(r[key] == value for key, value in zip(keys, values_))]


KEYS = ("dim", "n", "overlap", "sweeps")


def order_table(results):
    seen, rows = select(results, part="order"), []
    for wanted in settings(seen, *KEYS):
        here = of_setting(seen, KEYS, wanted)
        at = select(here, smoother="async", in_flight=0)
        rows.append([size(here[0]), *map(str, wanted[2:]), *[cell(first(at, order=o)) for o in ORDERS],
                     cell(first(here, smoother="stale twin"))])
    return table(["size", "overlap", "sweeps", *ORDERS, "stale twin, any order"], rows) if rows else None


def one_table(results):
    seen, rows = select(results, part="order", smoother="async", in_flight=1), []
    for wanted in settings(seen, *KEYS):
        here = of_setting(seen, KEYS, wanted)
        rows.append([size(here[0]), *map(str, wanted[2:]), *[cell(first(here, order=o)) for o in ORDERS]])
    return table(["size", "overlap", "sweeps", *ORDERS], rows) if rows else None


def milliseconds(record, name="cycle_seconds"):
    if not record or name not in record:
        return cell(record)
    return spread({name: {key: 1e3 * value for key, value in record[name].items()}}, name)


def time_table(results):
    seen, rows = select(results, part="order", smoother="async", sweeps=2), []
    for wanted in settings(seen, *KEYS, "in_flight"):
        here = of_setting(seen, (*KEYS, "in_flight"), wanted)
        rows.append([size(here[0]), str(wanted[2]), "1" if wanted[4] else "all that fit",
                     *[milliseconds(first(here, order=o)) for o in ORDERS]])
    return table(["size", "overlap", "in flight", *[f"{o}, ms" for o in ORDERS]], rows) if rows else None


def elimination_table(results):
    seen, rows = select(results, part="elimination"), []
    for dim in values(seen, "dim") if seen else []:
        here = select(seen, dim=dim)
        rows.append([size(here[0]), *[cell(first(here, smoother="async", order=o)) for o in ORDERS], cell(first(here, smoother="gauss_seidel"))])
    for name, line in TABLE_3.items():
        rows.append([f"paper, {name}: residual after 5 sweeps", *[f"{line[o]:.2e}" if o in line else "" for o in ORDERS], ""])
    return table(["size", *ORDERS, "gauss_seidel, sequential"], rows) if seen else None


def flight_rows(results, smoother):
    return [r for r in select(results, part="flight", smoother=smoother) if r["block"] > 1]


def flight_table(results):
    made = []
    for smoother in ("model", "async"):
        rows, seen = [], flight_rows(results, smoother)
        for wanted in settings(seen, *KEYS, "order"):
            here = of_setting(seen, (*KEYS, "order"), wanted)
            line = [f"{number(r['in_flight']) if r['in_flight'] else number(r['oversubscription']) + '-fold'}: {cell(r)}" for r in here]
            rows.append([size(here[0]), number(here[0]["blocks"]), *map(str, wanted[2:4]), wanted[4], "; ".join(line)])
        if rows:
            made.append(table(["size", "blocks", "overlap", "sweeps", "order", f"{smoother}: blocks in flight: factor"], rows))
    return "\n\n".join(made) or None


def chess_table(results):
    rows = []
    for r in select(results, part="flight", smoother="model", block=1):
        red_black = first(results, part="flight", smoother="red_black", dim=r["dim"])
        rows.append([size(r), number(r["in_flight"]), cell(r, digits=5), cell(red_black, digits=5)])
    return table(["size", "in flight", "model, two-colour, one unknown a block", "red_black"], rows) if rows else None


def paper_table(results):
    """Tables 4 and 5 as the paper has them."""
    if not results:
        return None
    rows = [[words + ", ".join(map(str, lines)), ", ".join(f"{t:.3g}" for t, _ in lines.values()), ", ".join(f"{r:.2e}" for _, r in lines.values())]
            for words, lines in (("Table 4, task list: ", TABLE_4), ("Table 5, thread blocks a multiprocessor: ", TABLE_5))]
    return table(["paper, L3D, 5 sweeps", "seconds", "nonlinear residual"], rows)


def locality_table(results):
    seen, rows = select(results, part="locality"), []
    for wanted in settings(seen, "dim", "n", "block"):
        here = of_setting(seen, ("dim", "n", "block"), wanted)
        rows.append([size(here[0]), f"{wanted[2]}^{wanted[0]}" if wanted[0] > 1 else number(wanted[2]),
                     *[milliseconds(first(here, order=o), "sweep_seconds") for o in ORDERS]])
    return table(["size", "block", *[f"{o}, ms" for o in ORDERS]], rows) if rows else None


TABLES = {"order": order_table, "one": one_table, "times": time_table, "elimination": elimination_table, "paper": paper_table,
          "flight": flight_table, "chess": chess_table, "locality": locality_table}
