"""The tables of docs/study-order.md (page.py fills them in)."""
import math

from page import first, number, select, spread, table, values

PAGE = "study-order.md"
FILES = ["order-device*.json", "order-host.json"]
ORDERS = ["natural", "backward", "random", "two-colour"]
TURNING = "natural, then backward"
FLYING = ["natural", "random", "two-colour"]  # orders of blocks in flight on a device

# The paper's numbers, of the Laplacians: nonlinear residual after 5 sweeps (Table 3); seconds and residual of L3D over thread blocks in flight
# on a multiprocessor (Table 5).
TABLE_3 = {"L2D": {"natural": 1.58e-4, "backward": 2.30e-3, "random": 1.27e-3},
           "L3D": {"natural": 1.35e-3, "backward": 7.17e-3, "random": 3.25e-3}}
TABLE_5 = {16: (4.88e-2, 1.35e-3), 8: (4.57e-2, 1.22e-3), 5: (5.89e-2, 1.16e-3),
           4: (7.01e-2, 1.14e-3), 2: (1.33e-1, 9.84e-4), 1: (2.62e-1, 8.00e-4)}


def size(r):
    return f"{r['n']}^{r['dim']}" if r["dim"] > 1 else str(r["n"])


def cell(record, name="factor", digits=3):
    return "-" if record and "skipped" in record else spread(record, name, digits) if record else ""


def left_out(rows):
    """The text below a table with the reasons of cells "-"."""
    reasons = dict.fromkeys(r["skipped"] for r in rows if "skipped" in r)
    return "".join(f"\n\nLeft out: {reason}." for reason in reasons)


def settings(rows, *keys):
    return list(dict.fromkeys(tuple(r[key] for key in keys) for r in rows))


def of_setting(rows, keys, values_):
    return [r for r in rows if all(r[key] == value for key, value in zip(keys, values_))]


KEYS = ("dim", "n", "overlap")


def has_device(results):
    return any(r["where"] == "device" for r in results)


def order_table(results):
    seen, rows = select(results, part="order", sweeps=2), []
    for wanted in settings(seen, *KEYS):
        here = of_setting(seen, KEYS, wanted)
        for words, at in (("1", 1), ("all that fit", 0)):
            line = select(here, smoother="async", in_flight=at)
            twin = "" if at else cell(first(here, smoother="stale twin"))
            if line:
                rows.append([size(line[0]), str(wanted[2]), words, *[cell(first(line, order=o)) for o in ORDERS], twin])
    return table(["size", "overlap", "in flight", *ORDERS, "stale twin, any order"], rows) + left_out(seen) if rows else None


def sweeps_table(results):
    """Medians. A device has all blocks of these grids in flight: there every order is the stale twin."""
    seen, rows = [r for r in select(results, part="order") if r["in_flight"] == 0], []
    seen = [] if has_device(results) else [r for r in seen if len(values(of_setting(seen, KEYS, [r[k] for k in KEYS]), "sweeps")) > 1]
    for wanted in settings(seen, *KEYS):
        here = of_setting(seen, KEYS, wanted)
        lines = [select(here, smoother="async", order=o) for o in ORDERS] + [select(here, smoother="stale twin")]
        rows.append([size(here[0]), str(wanted[2]), *[", ".join(number(r["factor"]["median"], 3) for r in line) for line in lines]])
    return table(["size", "overlap", *ORDERS, "stale twin"], rows) if rows else None


def milliseconds(record, name="cycle_seconds"):
    if not record or name not in record:
        return cell(record)
    return spread({name: {key: 1e3 * value for key, value in record[name].items()}}, name)


def time_table(results):
    seen, rows = select(results, part="order", smoother="async", sweeps=2), []
    for wanted in settings(seen, *KEYS):
        here = of_setting(seen, KEYS, wanted)
        rows.append([size(here[0]), str(wanted[2]), *[milliseconds(first(here, order=o, in_flight=0)) for o in ORDERS],
                     milliseconds(first(here, order="natural", in_flight=1))])
    return table(["size", "overlap", *[f"{o}, ms" for o in ORDERS], "one in flight, natural, ms"], rows) if rows else None


def elimination_table(results):
    """Always of the host, and in the host's file."""
    seen, rows = [] if has_device(results) else select(results, part="elimination"), []
    for dim in values(seen, "dim") if seen else []:
        here = select(seen, dim=dim)
        rows.append([size(here[0]), *[cell(first(here, smoother="async", order=o)) for o in ORDERS], cell(first(here, smoother="gauss_seidel"))])
    for name, line in TABLE_3.items():
        rows.append([f"paper, {name}: residual after 5 sweeps", *[f"{line[o]:.2e}" if o in line else "" for o in ORDERS], ""])
    return table(["size", *ORDERS, "gauss_seidel, sequential"], rows) if seen else None


def flight_rows(results, smoother):
    return [r for r in select(results, part="flight", smoother=smoother) if r["block"] > 1]


def flight_table(results):
    """The model, which also runs on the host."""
    rows, seen = [], [] if has_device(results) else flight_rows(results, "model")
    for wanted in settings(seen, *KEYS, "order"):
        here = of_setting(seen, (*KEYS, "order"), wanted)
        line = [f"{number(r['in_flight'])}: {cell(r)}" for r in here]
        rows.append([size(here[0]), number(here[0]["blocks"]), str(wanted[2]), wanted[3], "; ".join(line)])
    return table(["size", "blocks", "overlap", "order", "blocks in flight: factor"], rows) if rows else None


def room_of(record):
    """A device's thread blocks: (for every multiprocessor, in flight); 0, 0: all that fit."""
    return record.get("oversubscription", 0), record["in_flight"]


def room_name(room):
    fold, in_flight = room
    return f"{fold} a multiprocessor" if fold else str(in_flight) if in_flight else "all that fit"


def room_lines(results):
    """For every grid and overlap, and every number of thread blocks in ascending order: these, and the records of the orders."""
    seen = flight_rows(results, "async")
    for wanted in settings(seen, *KEYS):
        here = of_setting(seen, KEYS, wanted)
        for room in sorted({room_of(r) for r in here}, key=lambda room: (room == (0, 0), room)):
            yield here[0], room, [next((r for r in here if r["order"] == o and room_of(r) == room), None) for o in FLYING]


def paper_of(grid, room):
    """The paper's seconds and residual, beside what comes nearest to its problem."""
    return TABLE_5.get(room[0], (None, None)) if grid["dim"] == 3 and not grid["overlap"] else (None, None)


def room_table(results):
    """A device over its thread blocks in flight; the paper's Table 5."""
    rows = []
    for grid, room, line in room_lines(results):
        seconds, residual = paper_of(grid, room)
        paper = [f"{1e3 * seconds:.3g}", f"{residual:.2e}"] if seconds else ["", ""]
        rows.append([size(grid), str(grid["overlap"]), room_name(room), *[x for r in line for x in (cell(r), milliseconds(r))], *paper])
    heads = ["size", "overlap", "thread blocks", *[x for o in FLYING for x in (o, "ms")], "paper, L3D: ms", "residual"]
    return table(heads, rows) + left_out(flight_rows(results, "async")) if rows else None


def to_a_tenth(seconds, factor):
    """Milliseconds to a tenth of the residual."""
    return number(1e3 * seconds / -math.log10(factor), 3)


def pace(record):
    return to_a_tenth(record["cycle_seconds"]["median"], record["factor"]["median"]) if record and "factor" in record else ""


def pace_table(results):
    """The table of times, from medians, for grids with more blocks than a device runs at once. Their records have the residual of each cycle."""
    rows = []
    for grid, room, line in room_lines(results):
        paper = paper_of(grid, room)
        if any(r and "residual" in r for r in line):
            rows.append([size(grid), str(grid["overlap"]), room_name(room), *map(pace, line), to_a_tenth(*paper) if paper[0] else ""])
    return table(["size", "overlap", "thread blocks", *FLYING, "paper, L3D"], rows) if rows else None


def chess_table(results):
    rows = []
    for r in select(results, part="flight", smoother="model", block=1):
        red_black = first(results, part="flight", smoother="red_black", dim=r["dim"])
        rows.append([size(r), number(r["in_flight"]), cell(r, digits=5), cell(red_black, digits=5)])
    return table(["size", "in flight", "model, two-colour, one unknown a block", "red_black"], rows) if rows else None


def locality_table(results):
    seen, rows = select(results, part="locality"), []
    for wanted in settings(seen, "dim", "n", "block"):
        here = of_setting(seen, ("dim", "n", "block"), wanted)
        rows.append([size(here[0]), f"{wanted[2]}^{wanted[0]}" if wanted[0] > 1 else number(wanted[2]),
                     *[milliseconds(first(here, order=o), "sweep_seconds") for o in ORDERS]])
    return table(["size", "block", *[f"{o}, ms" for o in ORDERS]], rows) + left_out(seen) if rows else None


TABLES = {"order": order_table, "times": time_table, "elimination": elimination_table, "sweeps": sweeps_table, "flight": flight_table,
          "room": room_table, "pace": pace_table, "chess": chess_table, "locality": locality_table}
