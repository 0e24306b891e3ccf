"""bench/results/checks.md: what passes on a device, from the file of checks.py. study.py writes it."""

HEAD = """# What passes on a GPU
`bench/study.py` generates this page from `bench/results/h200-checks.json`, the output of `bench/checks.py`. Do not edit it. It lists

- all tests that need a device,
- tests of the host that also run on a device,
- kernels of every family under compute-sanitizer.

racecheck is the slowest tool, so it runs fewer cases of some tests. Stopped and skipped entries are listed as such.

"""


def checks_page(data):
    return HEAD + (checks_table(data) if data else "*Not measured yet.*") + "\n"


def lines(head, rows):
    return "\n".join(["| " + " | ".join(head) + " |", "|---" * len(head) + "|", *["| " + " | ".join(row) + " |" for row in rows]])


def origin(data):
    tool = data["compute_sanitizer"]
    return (f"{data['device']}, driver {data['driver']}, CUDA {data['cuda']}, compute-sanitizer {tool}, commit {data['commit'][:10]}, "
            f"{data['date'][:10]}.")


def stopped(record):
    return f"stopped after {record['seconds']:.0f} s"


def tests_cell(record):
    counts = [f"{record[k]} {k}" for k in ("passed", "failed", "skipped") if record.get(k)]
    if record["outcome"] == "passed":
        return ", ".join(counts) + (", {} of {} cases".format(*record["cases"]) if "cases" in record else "")
    if record["outcome"] == "failed":
        return f"**{', '.join(counts)}**" if record.get("failed") else f"**failed, exit status {record['status']}**"
    if record["outcome"] == "stopped":
        return ", ".join([stopped(record), *counts])
    return record.get("why", record["outcome"])


def tool_cell(record):
    if record["outcome"] == "passed":
        return "clean"
    if record["outcome"] == "stopped":
        return stopped(record) + ", nothing found"
    if record["outcome"] == "failed":
        return f"**{record['errors']} error{'s' if record['errors'] > 1 else ''}**" if record.get("errors") else "**failed**"
    return record.get("why", record["outcome"])


def tools_table(records):
    tools = list(dict.fromkeys(r["tool"] for r in records))
    at = {(r["tool"], *r["command"]): r for r in records}
    runs = list(dict.fromkeys(tuple(r["command"]) for r in records))
    rows = []
    for run in runs:
        there = [at.get((tool, *run)) for tool in tools]
        cases = next((r["cases"] for r in there if r and "cases" in r), None)
        name = " ".join(f"`{word}`" for word in [run[0].removeprefix("test_"), *run[1:]])
        own = [", {} cases".format(r["cases"][0]) if r and r.get("cases", cases) != cases else "" for r in there]
        rows.append([name + (", {} of {} cases".format(*cases) if cases else ""),
                     *[tool_cell(r) + more if r else "" for r, more in zip(there, own)]])
    return lines(["test", *tools], rows)


def spread(records):
    """The record with the most solves for each problem."""
    best = {}
    for b in (b for r in records for b in r.get("bands", [])):
        problem = b["problem"], b["n"]
        if problem not in best or b["runs"] > best[problem]["runs"]:
            best[problem] = b
    return list(best.values())


def bands_table(bands):
    rows = [[b["problem"], f"{b['n']}", *[f"{b[k]:.5f}" for k in ("min", "median", "max")], f"{b['least']:g} to {b['most']:g}"]
            for b in bands]
    return lines(["problem", "n", "smallest factor", "median", "largest", "band"], rows) if rows else "*Not measured.*"


def told(outcomes):
    kinds = (("passed", "clean"), ("failed", "failed"), ("stopped", "stopped early with nothing found"), ("not run", "not run"),
             ("missing", "missing"))
    return ", ".join(f"{outcomes.count(o)} {words}" for o, words in kinds if o in outcomes)


def tools_words(records):
    """The number of entries, and the outcomes of each tool."""
    by = {tool: [r["outcome"] for r in records if r["tool"] == tool] for tool in dict.fromkeys(r["tool"] for r in records)}
    return f"{len(records)} entries under compute-sanitizer: {'; '.join(f'{tool} {told(o)}' for tool, o in by.items())}."


def checks_table(data):
    tests = [r for r in data["results"] if not r["tool"]]
    tools = [r for r in data["results"] if r["tool"]]
    total = {o: sum(r["outcome"] == o for r in data["results"]) for o in ("passed", "failed", "stopped", "skipped", "missing", "not run")}
    words = ", ".join(f"{n} {o}" for o, n in total.items() if n)
    bands = spread(data["results"])
    solves = min((b["runs"] for b in bands), default=100)
    return "\n\n".join([f"{origin(data)} {len(data['results'])} entries: {words}.",
                        lines(["test (name in CTest)", "result"], [[f"`{r['name']}`", tests_cell(r)] for r in tests]),
                        tools_words(tools), tools_table(tools),
                        (f"Asynchronous smoothers, {solves} solves of each problem. A factor is the mean over the last five of 12 cycles, with f = 0 and "
                         "a random initial u. It is larger than the factors in [docs/performance.md](../../docs/performance.md), which are "
                         "those of the first cycles. Without overlap the weight is 1."), bands_table(bands)])
