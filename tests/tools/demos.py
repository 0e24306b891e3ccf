#!/usr/bin/env python3
"""Runs every demo as a user would and checks what it prints, its exit code, its JSON, its HDF5 and XDMF files and its
pictures. Usage: demos.py DEMO_FOLDER SOURCE_ROOT [PART ...]. Without parts: all but `tuning`, which compares times and so needs
the machine for itself."""
import json
import math
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import xml.etree.ElementTree as xml

DEMOS, ROOT = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
REPORT = {"status", "cycles", "residual0", "residual", "factor", "seconds", "history", "levels"}
failures = []


def run(demo, *args, code=0, says=None):
    if demo != "custom_smoother" and not {"--device", "--help"} & set(args):
        args = (*args, "--device", "host")  # devices() runs them elsewhere
    done = subprocess.run([DEMOS / demo, *args], capture_output=True, text=True, timeout=300)
    text = done.stdout + done.stderr
    if done.returncode != code or (says and says not in text):
        failures.append(f"{demo} {' '.join(args)}: exit {done.returncode}, wanted {code} and {says!r}\n{text[-600:]}")
    return done.stdout


def check(condition, words):
    if not condition:
        failures.append(words)


def run_json(demo, folder, *args, code=0):
    path = pathlib.Path(folder) / "report.json"
    path.unlink(missing_ok=True)
    run(demo, *args, "--quiet", "--json", str(path), code=code)
    check(path.is_file(), f"{demo} {args}: no JSON")
    return json.loads(path.read_text()) if path.is_file() else {}


def poisson(folder):
    out = run("poisson", "--n", "24", says="converged")
    check(sum(line.split()[:1] == [str(c)] for line in out.splitlines() for c in (0, 1, 2, 3)) >= 4, "no table of cycles")
    report = run_json("poisson", folder, "--n", "32x24x20", "--smoother", "red_black", "--pre", "2", "--cycle", "w")
    check(REPORT <= report.keys(), f"report lacks {REPORT - report.keys()}")
    check(report["status"] == "GMG_OK" and report["cycles"] == len(report["history"]) - 1, "status or history")
    check(report["problem"]["n"] == [32, 24, 20] and report["params"]["smoother"] == "red_black", "what was run")
    check(report["residual"] <= 1e-8 * report["residual0"] * 1.01, "zero guess: residual0 is ||f||")
    check(report["levels"][0]["cells"] == 32 * 24 * 20 and report["error_2"] < 1e-2, "levels or error")
    for dim, n in (("1", "256"), ("2", "64"), ("3", "32")):
        for centering in ("vertex", "cell"):
            for bc in ("dirichlet", "neumann", "robin", "periodic", "dirichlet:neumann"):
                result = run_json("poisson", folder, "--dim", dim, "--n", n, "--centering", centering, "--bc", bc, "--order")
                order = result["order"][-1]["order_2"]
                check(abs(order - 2) < 0.12, f"{dim}D {centering} {bc}: order {order}")
    options = {"--omega": "0.9", "--local-sweeps": "3", "--overlap": "2", "--deterministic": None, "--fmg": None,
               "--accel": "fcg", "--rtol": "1e-4", "--guess": "random", "--rhs": "random", "--threads": "1", "--post": "2",
               "--type": "f32", "--max-levels": "2", "--coarse": "dense", "--passes": "2", "--block-order": "random",
               "--local": "jacobi", "--shift": "100", "--block": "8x8x8", "--cycle": "f", "--precision": "same", "--restriction": "adjoint",
               "--preset": "async-2011"}
    base = run_json("poisson", folder, "--n", "24", "--bc", "neumann:dirichlet", "--rhs", "smooth", "--threads", "1")
    for option, value in options.items():  # every option must change the run
        args = [option] if value is None else [option, value]
        changed = run_json("poisson", folder, "--n", "24", "--bc", "neumann:dirichlet", *args)
        key = "params" if option not in ("--guess", "--rhs", "--threads", "--type", "--shift") else None
        same = base["history"] == changed["history"] and base["levels"] == changed["levels"]
        check(not same or option == "--threads", f"{option} changes nothing")
        check(key is None or base["params"] != changed["params"] or option == "--deterministic",
              f"{option} is not in the JSON")
    run("poisson", "--n", "16", "--max-cycles", "1", code=1, says="not converged")


def bad_input(folder):
    run("poisson", "--n", "0", code=2, says="0")
    run("poisson", "--n", "12x", code=2, says="12x")
    run("poisson", "--n", "abc", code=2, says="abc")
    run("poisson", "--smoother", "sor", code=2, says="red_black")
    run("poisson", "--cycle", "x", code=2, says="x")
    run("poisson", "--dim", "4", code=2, says="4")
    run("poisson", "--omega", "2.5", code=1, says="params.omega = 2.5")
    run("poisson", "--overlap", "7", code=1, says="params.async.overlap = 7")
    run("poisson", "--shift", "-1e3", code=1, says="problem.shift = -1000")
    run("poisson", "--dim", "2", "--n", "64", "--shift", "-15", says="; smallest eigenvalue 4.7")
    run("poisson", "--bc", "periodic:neumann", code=1, says="GMG_PERIODIC must be on both sides")
    run("poisson", "--accel", "cg", code=1, says="has no adjoint")
    run("poisson", "--device", "nonsense", code=2, says="--device 'nonsense': expected host, cuda")
    run("poisson", "--device", "cuda:", code=2, says="cuda:")
    run("poisson", "--device", "cuda:-1", code=2, says="cuda:-1")
    run("poisson", "--device", "cuda:1000", code=1, says="--device cuda:1000")
    run("poisson", "--device", "cuda", "--threads", "2", code=2, says="--threads 2")
    run("custom_smoother", "--device", "cuda", code=2, says="--device")
    run("tune", "--seconds", "0", code=2, says="above 0")
    run("poisson", "--seconds", "3", code=2, says="--seconds")
    run("poisson", "--n", "30000", code=1, says="out of memory")
    for demo in ("embed", "projection", "layers", "custom_smoother"):  # they make their fields before the plan, which reads some
        run(demo, "--n", "300000x400000x4000000" if demo != "embed" else "3000000x4000000", code=1, says="GB needed")
    run("embed", "--n", "4294967297x4294967297", code=1, says="GB needed")  # a product beyond the range of sizes
    for option, name in (("--json", "place.json"), ("--output", "place.h5")):
        said = run("poisson", "--n", "16", option, f"{folder}/no/such/{name}", code=1, says=f"{option} {folder}/no/such/{name}: could not")
        check(said == "", f"{option}: computed what cannot be written")
    run("poisson", "--n", "16", "--omega", "2.5", "--json", f"{folder}/left.json", code=1, says="params.omega")
    check(not (pathlib.Path(folder) / "left.json").exists(), "a run that failed leaves a file")
    run("helmholtz", "--smoother", "nonsense", code=2, says="nonsense")
    run("embed", "--n", "x", code=2, says="x")
    run("custom_smoother", "--n", "-3", code=2, says="-3")
    run("embed", "--slope", "-1", code=2, says="above -1")
    run("projection", "--n", "3", code=2, says="3 cells")
    run("projection", "--dim", "1", code=2, says="1D")
    run("projection", "--order", "--walls", code=2, says="--walls")
    run("projection", "--density-ratio", "0", code=2, says="above 0")
    run("projection", "--order", "--n", "15", code=2, says="15 cells, at least 16")
    run("projection", "--n", "8", "--viscosity", "1e300", code=1, says="--viscosity 1e+300")
    run("projection", "--n", "8", "--time", "1e-12", says="1 steps")
    run("projection", "--walls", "--density-ratio", "1e300", code=2, says="--density-ratio 1e+300")
    run("gravity", "--n", "32", "--density", "1e300", code=2, says="--density 1e+300")
    run("projection", "--n", "16", "--max-cycles", "1", code=1, says="not converged")
    run("layers", "--n", "10x10x6", code=2, says="multiple of 4")
    run("layers", "--dim", "2", code=2, says="3D")
    run("screened", "--n", "7", "--rtol", "1e-14", says="exact")
    run("layers", "--n", "20", "--max-cycles", "1", code=1, says="not converged")
    none = subprocess.run([sys.executable, ROOT / "scripts/models.py", "clone", f"{folder}/none", "-o", f"{folder}/x.png"], capture_output=True, text=True)
    check(none.returncode == 1 and "none-target.png" in none.stderr, f"models.py: {none.stderr}")
    for demo in ("poisson", "helmholtz", "smoothers", "tune", "embed", "projection", "layers", "gravity", "screened", "stencil", "media", "custom_smoother"):
        run(demo, "--help", says="usage")
        run(demo, "--nonsense", code=2)


def devices(folder):
    """On a CUDA device, where there is one that can be used, every demo; where there is none, what they say of that."""
    tried = subprocess.run([DEMOS / "poisson", "--n", "16", "--device", "cuda"], capture_output=True, text=True, timeout=300)
    there = tried.returncode == 0
    if not there:
        check(tried.returncode == 1 and "poisson: --device cuda:0: " in tried.stderr, f"--device cuda without one: {tried.stderr}")
    best = subprocess.run([DEMOS / "poisson", "--n", "16"], capture_output=True, text=True, timeout=300)
    first = best.stdout.splitlines()[0]
    check(best.returncode == 0 and first.startswith("device   cuda:0, " if there else "device   host, "), f"by default: {first}")
    check(there or first.endswith(")"), f"why the host: {first}")
    host = run_json("poisson", folder, "--n", "24", "--smoother", "red_black")
    check(host["device"] == host["device_name"] == "host", "device in the JSON")
    if not there:
        return "no CUDA device that can be used"
    cuda = run_json("poisson", folder, "--n", "24", "--smoother", "red_black", "--device", "cuda", "--output", f"{folder}/cuda.h5")
    check(cuda["device"] == "cuda" and len(cuda["device_name"]) > 3, "device in the JSON")
    check(cuda["cycles"] == host["cycles"] and abs(cuda["error_2"] / host["error_2"] - 1) < 1e-4, f"poisson: {cuda['error_2']}")
    report = run_json("tune", folder, "--n", "32", "--seconds", "20", "--device", "cuda", "--max-cycles", "6", "--direct", "never")  # as in tuning()
    names = [row["name"] for row in report["variants"]]
    check(report.get("device") == "cuda" and len(names) > 5, "tune: not on the device")
    check({"--assignment dynamic", "--oversubscription 2", "--in-flight 128"} <= set(names), f"tune on a device: {names}")
    for demo, args in (("helmholtz", ("--n", "24")), ("smoothers", ("--n", "32")), ("embed", ("--n", "32", "--steps", "6")),
                       ("projection", ("--n", "24", "--time", "0.1")), ("layers", ("--n", "24")), ("gravity", ("--n", "32")),
                       ("screened", ("--n", "15")), ("stencil", ("--operator", "27", "--n", "31")),
                       ("media", ("--medium", "squares", "--n", "48")), ("media", ("--medium", "lognormal", "--dim", "3", "--n", "24")),
                       ("projection", ("--n", "16", "--walls", "--density-ratio", "10", "--time", "0.05"))):
        report = run_json(demo, folder, *args, "--device", "cuda:0", "--output", f"{folder}/cuda.h5")
        check(report.get("device") == "cuda", f"{demo} {args}: not on the device")
    check(max(run_json("embed", folder, "--dim", "3", "--n", "16", "--steps", "4", "--device", "cuda")["steps"][i]["balance"]
              for i in range(4)) < 1e-7, "embed on a device: heat is lost")
    return None


def processes(folder):
    """The demo poisson in several processes: the same solution, in files that one process also writes."""
    import h5py
    import numpy

    mpi = {"OMPI_ALLOW_RUN_AS_ROOT": "1", "OMPI_ALLOW_RUN_AS_ROOT_CONFIRM": "1", "OMPI_MCA_rmaps_base_oversubscribe": "1",
           "OMPI_MCA_mpi_yield_when_idle": "1", "OMPI_MCA_plm_rsh_agent": "", "OMPI_MCA_btl_vader_single_copy_mechanism": "none"}

    def start(count, demo, *args):
        return subprocess.run(["mpirun", "-n", str(count), DEMOS / demo, *args], capture_output=True, text=True, timeout=300,
                              env={**os.environ, **mpi})

    if not shutil.which("mpirun"):
        return "mpirun is not there"
    if "built without MPI" in start(2, "poisson", "--n", "16").stderr:
        return "built without MPI"
    for args, cuts in ((("--n", "72x60x66", "--bc", "dirichlet:neumann"), ("2x1x1", "1x2x2", "")),
                       (("--dim", "2", "--n", "400x300", "--bc", "neumann", "--rhs", "random", "--guess", "random"), ("1x3",)),
                       (("--dim", "2", "--n", "256", "--type", "f32", "--order", "--centering", "vertex"), ("2x1",))):
        args = (*args, "--device", "host", "--json", f"{folder}/ranks.json", "--output", f"{folder}/ranks.h5")
        run("poisson", *args, says="converged")
        alone = json.loads((pathlib.Path(folder) / "ranks.json").read_text())
        with h5py.File(f"{folder}/ranks.h5") as f:
            fields = {name: f[name][...] for name in f}
        for cut in cuts:
            count = math.prod(int(c) for c in cut.split("x")) if cut else 3
            done = start(count, "poisson", *args, *(("--cut", cut) if cut else ()))
            check(done.returncode == 0 and done.stdout.count("converged in") == 1, f"{count} processes {args}: {done.stdout}{done.stderr}")
            shared = json.loads((pathlib.Path(folder) / "ranks.json").read_text())
            check(shared["processes"] == count and abs(shared["cycles"] - alone["cycles"]) < 2, f"{count} processes: {shared}")
            with h5py.File(f"{folder}/ranks.h5") as f:
                check(set(f) == set(fields), f"{count} processes: fields {set(f)}")
                check((f["f"][...] == fields["f"]).all() and f["u"].attrs["centering"] is not None, f"{count} processes: f")
                off = numpy.abs(f["u"][...] - fields["u"]).max() / numpy.abs(fields["u"]).max()
                check(off < (1e-4 if "f32" in args else 1e-6), f"{count} processes {args}: u differs by {off}")
    for demo, args, code, says in (("poisson", ("--cut", "3x1x1"), 2, "--cut: 3 parts, but 2 processes"),
                                   ("poisson", ("--cut", "2"), 2, "--cut gives 1 values"), ("poisson", ("--n", "0"), 2, "--n '0'"),
                                   ("poisson", ("--n", "4"), 1, "poisson: not supported: rank 0: problem.n"),
                                   ("poisson", ("--output", f"{folder}/no/such/x.h5"), 1, "could not be written"),
                                   ("media", ("--n", "16"), 2, "mpirun has started 2 processes, but this program needs one")):
        done = start(2, demo, *args)
        check(done.returncode == code and says in done.stderr, f"2 processes of {demo} {args}: {done.returncode} {done.stdout}{done.stderr}")
        check(demo != "poisson" or done.stderr.count(says) == 1, f"2 processes of {demo} {args}: {done.stderr}")
    run("poisson", "--cut", "2x1x1", code=2, says="--cut: 2 parts, but 1 process")
    return None


def others(folder):
    sweep = run_json("helmholtz", folder, "--n", "24")
    factors = [row["factor"] for row in sweep["sweep"] if row["factor"] is not None]
    check(len(sweep["sweep"]) >= 8 and max(factors) < 0.1, "helmholtz: factor against shift")
    table = run_json("smoothers", folder, "--n", "32")
    names = {row["smoother"] if "smoother" in row else row["name"] for row in table["smoothers"]}
    check(names == {"jacobi", "gauss_seidel", "red_black", "chebyshev", "async", "lines"}, f"smoothers: {names}")
    run("embed", "--dim", "2", "--n", "32", "--steps", "6")
    heat = run_json("embed", folder, "--dim", "3", "--n", "16", "--steps", "4", "--output", f"{folder}/heat.h5")["steps"]
    check(len(heat) == 4 and max(step["balance"] for step in heat) < 1e-7, "embed: heat is lost")
    errors = [run_json("embed", folder, "--n", "64", "--steps", "64", "--slope", s)["steps"][-1]["error"] for s in "09"]
    check(max(errors) < 3e-3, f"embed: off the solution of the heat equation by {errors}")
    check(heat[3]["dt"] == 2 * heat[0]["dt"] and REPORT <= heat[0].keys(), "embed: the time step did not change")
    own = run_json("custom_smoother", folder, "--n", "32x20", "--rhs", "random", "--cycle", "w", "--output", f"{folder}/own.h5")
    check(own["params"]["smoother"] == "mine" and own["factor"] < 0.3 and own["status"] == "GMG_OK", "custom_smoother")
    run("custom_smoother", "--n", "24", "--type", "f32", code=1, says="has no functions")
    run("helmholtz", "--n", "16", "--shifts", "0:1", "--rhs", "smooth", "--output", f"{folder}/helmholtz.h5")
    check(pathlib.Path(folder, "own.xdmf").is_file() and pathlib.Path(folder, "helmholtz.xdmf").is_file(), "no XDMF")
    check(len((ROOT / "demos/custom_smoother.c").read_text().splitlines()) < 80, "custom_smoother.c has 80 lines or more")
    run("smoothers", "--n", "24", "--json", f"{folder}/smoothers.json")
    picture(folder, "history", f"{folder}/smoothers.json")


def tuning(folder):
    """Jacobi is far from the best: something better is found, and poisson takes it."""
    for args in (("--n", "24"), ("--dim", "2", "--n", "96", "--bc", "neumann"), ("--dim", "1", "--n", "100", "--type", "f32", "--rtol", "1e-3")):
        for seconds in ("4", "8", "16"):  # on a machine that does other things besides, times may spread too much, or there is little time
            report = run_json("tune", folder, *args, "--smoother", "jacobi", "--direct", "never", "--seconds", seconds, "--threads", "1")
            rows, best, start = report["variants"], report["best"], report["start"]
            if best["options"] and best["seconds"] < 0.8 * start["seconds"] and len(rows) > 8:
                break
        check(len(rows) > 8 and rows[0]["name"] == "start" and rows[0]["runs"] == 3, f"tune {args}: variants")
        check(all(row["status"] == "GMG_OK" or (row["message"] and row["verdict"] == "") for row in rows), f"tune {args}: silent failures")
        check(best["seconds"] < 0.8 * start["seconds"] and best["runs"] == start["runs"] == 5, f"tune {args}: {best}, {start}")
        check(best["options"] and len(best["options"]) == len(best["c"]), f"tune {args}: {best}")
        check(all(line.startswith("params.") and line.endswith(";") for line in best["c"]), f"tune {args}: {best['c']}")
        options = [word for option in best["options"] for word in option.split()]
        found = run_json("poisson", folder, *args, "--smoother", "jacobi", "--rhs", "random", *options)
        check(found["status"] == "GMG_OK", f"poisson with {options}")
    # Within 5 cycles async alone converges. So it is kept, however fast the others are, and its own options are tried.
    rows = run_json("tune", folder, "--n", "12", "--seconds", "60", "--threads", "2", "--max-cycles", "5", "--direct", "never")["variants"]
    names = [row["name"] for row in rows]
    others = [row for row in rows if row["name"].startswith("--smoother")]
    check(rows[0]["status"] == "GMG_OK" and all(row["status"] == "GMG_NOT_CONVERGED" for row in others[:4]), f"tune: {others}")
    check("--assignment static" in names, f"tune: {names}")
    # On the host dynamic is what async does by default: it can only be a way back from static.
    back = names.index("--assignment dynamic") if "--assignment dynamic" in names else len(rows)
    kept = [row["name"] for row in rows[:back] if row["verdict"] == "kept"]
    check(back == len(rows) or "--assignment static" in kept, f"tune: {names}")
    check(not any("in-flight" in name or "oversubscription" in name for name in names), f"tune: {names}")
    out = run("tune", "--n", "16", "--seconds", "0.001", says="more would have been tried with more --seconds")
    check("cycles" in out and "start" in out, "tune: no table")
    run("tune", "--n", "24", "--max-cycles", "1", "--seconds", "1", "--direct", "never", code=1, says="no variant")
    # Where a direct solve is fastest, and the smoother was not chosen, nothing is better than the start.
    report = run_json("tune", folder, "--n", "24", "--seconds", "4", "--threads", "1")
    check(report["variants"][0]["cycles"] == 1 and not report["best"]["options"], f"tune: {report['best']}")
    run("tune", "--dim", "1", "--n", "3000", "--type", "f32", code=1, says="give another --rtol")


def flows(folder):
    order = run_json("projection", folder, "--order", "--n", "48", "--time", "0.2", "--output", f"{folder}/flow.h5")["order"]
    check(len(order) == 3 and abs(order[-1]["order_2"] - 2) < 0.1, f"projection: orders {order}")
    for dataset in ("p", "vorticity", "density", "u", "v"):
        picture(folder, "slice", f"{folder}/flow.h5", "--dataset", dataset)
    for args in (("--n", "32"), ("--n", "12x16x8"), ("--n", "32", "--walls"), ("--n", "12", "--dim", "3", "--walls"),
                 ("--n", "32", "--density-ratio", "100"), ("--n", "32x48", "--density-ratio", "1000", "--walls"),
                 ("--n", "16", "--walls", "--density-ratio", "0.1"),
                 ("--n", "29", "--smoother", "red_black", "--rtol", "1e-11")):
        report = run_json("projection", folder, "--time", "0.1", *args)
        tolerance = report["params"]["rtol"]
        check(0 < report["divergence_left"] <= 1.01 * tolerance, f"projection {args}: {report['divergence_left']} left")
        check((report["error_max"] is None) == (not {"--walls", "--density-ratio"}.isdisjoint(args)), f"projection {args}")
        last = report["steps"][-1]
        check(abs(last["time"] - 0.1) < 1e-12 and last["divergence_after"] < 1e-3 * last["divergence_before"],
              f"projection {args}: {last}")
    out = run("projection", "--n", "24", "--time", "0.1", says="velocity off the exact one")
    check(len([line for line in out.splitlines() if len(line.split()) == 8 and line.split()[0].isdigit()]) >= 8, "no table")


def layered(folder):
    run("layers", "--n", "24", says="whole box")
    for contrast in ("100", "1e6"):
        report = run_json("layers", folder, "--n", "48", "--contrast", contrast, "--output", f"{folder}/layers.h5")
        efforts = {row["name"]: row["iterations"] for row in report["methods"]}
        check(efforts["gmg"] < 15 < efforts["diagonal_cg"] / 4 < efforts["cg"] / 8, f"layers {contrast}: {efforts}")
        layers, jump = report["layers"], float(contrast)
        check(report["defect"] < 1e-6 and max(row["defect"] for row in layers) < 1e-5, "layers: fluxes do not balance")
        check([row["mu"] for row in layers] == [10, 10 * jump**0.5, 10, 10 * jump], "layers: mu")
        check(abs(report["source"] - math.sin(15) / 250) < 1e-12, "layers: integral of f")
    picture(folder, "slice", f"{folder}/layers.h5", "--axis", "1")
    picture(folder, "layers", f"{folder}/report.json", f"{folder}/layers.h5", script="models.py")


def sphere(folder):
    run("gravity", "--n", "28", says="metres from above the sphere")
    errors = []
    for n in ("32", "64"):
        report = run_json("gravity", folder, "--n", n, "--output", f"{folder}/gravity.h5")
        errors.append((report["error_potential"], report["error_anomaly"]))
        check(report["error_potential"] < report["allowed_potential"] and report["error_anomaly"] < report["allowed_anomaly"], "gravity: allowed")
    check(all(3 < coarse / fine < 5 for coarse, fine in zip(*errors)), f"gravity: not of second order: {errors}")
    picture(folder, "gravity", f"{folder}/report.json", f"{folder}/gravity.h5", script="models.py")
    line, mass = report["profile"], report["mass"]
    check(abs(mass / (4 / 3 * math.pi * 150**3 * 500) - 1) < 1e-12 and len(line["x"]) == 64, "gravity: mass or profile")
    peak = 6.67428e-11 * mass / 300**2 / 1e-5
    check(abs(max(line["anomaly"]) / peak - 1) < 0.03, f"gravity: {max(line['anomaly'])} mGal above the sphere, should be {peak}")
    hole = run_json("gravity", folder, "--n", "50x40x31", "--density", "-800", "--depth", "400", "--radius", "250")
    check(max(hole["profile"]["anomaly"]) < 0, "gravity: a hole attracts")
    for args, words in ((("--depth", "100"), "--depth 100: a sphere of radius 150 reaches the surface"), (("--density", "0"), "--density 0"),
                        (("--depth", "900"), "reaches the bottom"), (("--n", "8"), "cells of 250 metres are too large"),
                        (("--dim", "2"), "--dim 2"), (("--radius", "-3"), "--radius '-3'"), (("--depth", "x"), "--depth 'x'")):
        run("gravity", *args, code=2, says=words)
    run("gravity", "--n", "64", "--rtol", "0.5", "--smoother", "jacobi", code=1, says="the potential is off by")
    run("gravity", "--n", "32", "--max-cycles", "1", code=1, says="not converged")


def screens(folder):
    # the thesis' counts on trilinear elements, which count the sweep that finds the residual small enough as well
    report = run_json("screened", folder, "--output", f"{folder}/screened.h5")
    rows = {(row["eta"], row["stencil"]): row for row in report["single_level"]}
    counts = [rows[eta, "trilinear"] for eta in (0, 0.1, 1)]
    for row, sweeps, iterations in zip(counts, ((1236, 1660, 2085), (None, 1655, 2078), (1196, None, None)), 3 * ((55, 66, 78),)):
        check(all(want in (None, found + 1) for found, want in zip(row["sweeps"], sweeps)), f"screened: sweeps {row['sweeps']}")
        check(row["cg_iterations"] == list(iterations), f"screened: CG {row['cg_iterations']}")
    for (eta, stencil), row in rows.items():
        exact = 1 + eta / (3 * math.pi**2)
        check(abs(row["ratio"] - exact) < 1e-4 and abs(row["exact_ratio"] - exact) < 1e-12, f"screened: {eta}, {stencil}: {row['ratio']}")
    check([row["eta"] for row in report["solves"]] == [0, 0.1, 1] and max(row["cycles"] for row in report["solves"]) < 9, "screened: cycles")
    check(max(report["distance"]) < 1e-9 and len(counts[0]["history"]) > 100, "screened: distance or history")
    picture(folder, "screened", f"{folder}/report.json", script="models.py")
    run("screened", "--n", "9", "--smoother", "red_black", says="ratio of slopes for eta = 1: 1.03")
    for args, words in ((("--dim", "2"), "--dim 2"), (("--n", "9x9x8"), "--n 9x9x8"), (("--n", "3"), "--n 3"), (("--shift", "1"), "--shift")):
        run("screened", *args, code=2, says=words)
    run("screened", "--n", "15", "--max-cycles", "1", code=1, says="not converged")


def image_2d(entries, u):
    """A u by the definition, u being 0 beyond the walls; entries[3 (y + 1) + x + 1]."""
    import numpy
    padded = numpy.pad(u, 1)
    rows, columns = u.shape
    return sum(entries[3 * y + x] * padded[y:y + rows, x:x + columns] for y in range(3) for x in range(3))


def stencils(folder):
    import h5py
    import numpy
    fv3 = "-0.25,-0.5,-0.25,-0.5,3,-0.5,-0.25,-0.5,-0.25"
    out = run("stencil", "--operator", "fv3", "--rtol", "1e-10", says="converged")
    check(["-0.5", "3", "-0.5"] in [line.split() for line in out.splitlines()] and "sum      0\n" in out, f"stencil: not shown\n{out[:400]}")
    check(sum(line.split()[:1] == [str(c)] for line in out.splitlines() for c in (0, 1, 2, 3)) >= 4, "stencil: no table of cycles")
    named = run_json("stencil", folder, "--operator", "fv3", "--rtol", "1e-10", "--deterministic", "--threads", "1")
    check(named["status"] == "GMG_OK" and named["cycles"] <= 8 and named["problem"]["n"] == [99, 99], f"stencil: fv3: {named['cycles']}")
    check(named["problem"]["stencil"][9:18] == [float(x) for x in fv3.split(",")] and not any(named["problem"]["stencil"][:9]), "stencil: JSON")
    path = pathlib.Path(folder) / "entries.txt"
    path.write_text(fv3.replace(",", " ", 4).replace(",", "\n"))
    for args in (("--entries", fv3), ("--file", str(path))):
        given = run_json("stencil", folder, *args, "--rtol", "1e-10", "--deterministic", "--threads", "1")
        check(given["history"] == named["history"], f"stencil: {args}: another solve")
    histories = [run_json("stencil", folder, *args, "--n", "31")["history"] for args in (("--operator", "fv1"), ("--operator", "fv3"), ("--operator", "27"), (),
                 ("--entries", "-1,2,-1"), ("--operator", "fv1", "--shift", "1"), ("--operator", "fv1", "--bc", "neumann:dirichlet"))]
    check(len({history[1] for history in histories}) == 7, f"stencil: some do nothing: {histories}")
    check(all(len(history) < 10 for history in histories), f"stencil: slow: {histories}")
    dims = [run_json("stencil", folder, *args, "--n", "20")["problem"]["dim"] for args in ((), ("--dim", "3"), ("--entries", "-1,2,-1"), ("--operator", "27"))]
    check(dims == [2, 3, 1, 3], f"stencil: axes {dims}")
    for smoother in ("jacobi", "gauss_seidel", "chebyshev"):
        check(run_json("stencil", folder, "--smoother", smoother)["factor"] < 0.5, f"stencil: {smoother}")
    entries = (-0.1, -1, -0.3, -2, 6.8, -2, -0.3, -1, -0.1)  # no two axes alike: which is which?
    run_json("stencil", folder, "--entries", ",".join(map(str, entries)), "--n", "40x23", "--rtol", "1e-11", "--output", f"{folder}/stencil.h5")
    with h5py.File(f"{folder}/stencil.h5") as file:
        f, u = file["f"][...], file["u"][...]
    check(u.shape == (23, 40) and numpy.abs(f - image_2d(entries, u)).max() < 1e-9 * numpy.abs(f).max() * 40, "stencil: not the solution")
    run("stencil", "--bc", "periodic", says="singular")
    for text in ("1,2", "1,2,3,4", "-1,2,-1,", "-1,x,-1", "-1, 2,-1", "-1,2,nan", ",".join(28 * "1")):
        run("stencil", "--entries", text, code=2, says=f"--entries '{text}': expected 3, 9 or 27 numbers")
    run("stencil", "--entries", "-1,0,-1", code=1, says="problem.stencil->entry[1][1][1] = 0: the entry of the unknown itself must be positive")
    run("stencil", "--entries", "-1,1,-1", code=1, says="its entries add up to -1")
    run("stencil", "--entries", "-1,3,-2", "--accel", "cg", "--smoother", "gauss_seidel", "--deterministic", code=1,
        says="params.accel = GMG_ACCEL_CG needs a symmetric matrix")
    run("stencil", "--entries", "-1.2,2,-0.8", says="converged")
    run("stencil", "--file", f"{folder}/no/such", code=1, says=f"--file {folder}/no/such: could not be read")
    for text, words in (("-1 2", "2 numbers: expected 3, 9 or 27"), ("", "0 numbers"), ("-1 two -1", "'two' is not a number"), (28 * "1 ", "28 numbers"),
                        (70 * "1" + " 2 3", "is not a number")):
        path.write_text(text)
        run("stencil", "--file", str(path), code=1, says=f"--file {path}: {words}" if "111" not in text else words)
    run("stencil", "--operator", "fv4", code=2, says="expected one of q1, fv1, fv2, fv3, 27")
    run("stencil", "--operator", "fv3", "--entries", "-1,2,-1", code=2, says="only one of them")
    run("stencil", "--operator", "27", "--dim", "2", code=2, says="27 entries are a stencil in 3D, but the problem has 2 axes")
    run("stencil", "--entries", "-1,2,-1", "--n", "9x9", code=2, says="3 entries are a stencil in 1D, but the problem has 2 axes")
    run("stencil", "--smoother", "red_black", code=1, says="does not take a problem with a box stencil")
    run("stencil", "--bc", "robin", code=1, says="problem.bc[0][0] = GMG_ROBIN")
    run("stencil", "--centering", "cell", code=2, says="--centering is not an option here")
    run("poisson", "--entries", "-1,2,-1", code=2, says="--entries is not an option here")
    run("stencil", "--max-cycles", "1", code=1, says="not converged")


def media(folder):
    import h5py
    import numpy
    names = [line.split()[0] for line in run("media", "--medium", "list", says="checkerboard of 37 unknowns").splitlines()[1:]]
    check(len(names) > 20 and "discs" in names, f"media: the gallery {names}")
    for name in names:
        report = run_json("media", folder, "--medium", name, "--n", "48", "--output", f"{folder}/{name}.h5")
        check(report["status"] == "GMG_OK" and report["problem"]["medium"] == name and report["cycles"] < 60, f"media: {name} {report['cycles']}")
        with h5py.File(f"{folder}/{name}.h5") as file:
            shown = file[report["shows"]][...]
            check(shown.shape == (48, 48) and shown.min() < shown.max(), f"media: {name} shows a constant")
        if name in ("board_8", "turning", "stretched", "sigma_random"):
            picture(folder, "media", f"{folder}/report.json", f"{folder}/{name}.h5")
    tree = xml.parse(f"{folder}/stretched.xdmf")
    x = [float(v) for v in next(tree.iter("Geometry"))[0].text.split()]
    check(next(tree.iter("Geometry")).get("GeometryType") == "VXVYVZ" and len(x) == 49 and x[25] - x[24] > 5 * (x[1] - x[0]), f"media: mesh {x}")
    run_json("media", folder, "--medium", "board_8", "--strength", "7", "--n", "24", "--dim", "3", "--type", "f32", "--output", f"{folder}/board.h5")
    with h5py.File(f"{folder}/board.h5") as file:
        i = sum(numpy.indices((24, 24, 24)) // 8)
        check(numpy.array_equal(file["beta"][...], numpy.where(i % 2, 7, 1)) and file["beta"].dtype == "f4", "media: board_8")
    picture(folder, "media", f"{folder}/report.json", f"{folder}/board.h5")
    two = [run_json("media", folder, "--n", "40", "--strength", s, "--centering", "vertex")["history"] for s in ("10", "1e5")]
    check(two[0] != two[1], "media: --strength does nothing")
    ranked = run_json("smoothers", folder, "--medium", "discs", "--n", "48", "--dim", "2", "--cycles", "4", "--runs", "1")
    plain = run_json("smoothers", folder, "--n", "48", "--dim", "2", "--cycles", "4", "--runs", "1")
    check(ranked["problem"]["medium"] == "discs" and ranked["smoothers"][0]["factor"] != plain["smoothers"][0]["factor"], "smoothers: --medium")
    tuned = run_json("tune", folder, "--medium", "halves", "--n", "32", "--dim", "2", "--seconds", "1")
    check(tuned["problem"]["beta"] == "faces" and len(tuned["variants"]) > 1, "tune: --medium")
    run("media", "--medium", "nonsense", code=2, says="--medium 'nonsense': expected a medium of the gallery; --medium list")
    run("media", "--strength", "0", code=2, says="--strength '0': expected a number above 0")
    run("media", "--n", "20x30", code=2, says="20 and 30 unknowns")
    run("media", "--dim", "1", code=2, says="1D")
    run("media", "--strength", "1e300", code=1, says="problem.beta")
    run("media", "--n", "3000000", code=1, says="GB needed")
    run("media", "--bc", "neumann", code=2, says="--bc is not an option here")
    run("smoothers", "--medium", "ball", "--bc", "neumann", code=2, says="--bc with --medium ball")
    run("tune", "--medium", "ball", "--length", "2", code=2, says="--length with --medium ball")
    run("poisson", "--medium", "ball", code=2, says="--medium is not an option here")
    run("media", "--max-cycles", "1", code=1, says="not converged")
    wrong = subprocess.run([sys.executable, ROOT / "scripts/plot.py", "media", f"{folder}/nothing.json", f"{folder}/board.h5", "-o", f"{folder}/x.png"],
                           capture_output=True, text=True)
    check(wrong.returncode == 1 and "nothing.json" in wrong.stderr, f"plot.py media: {wrong.stderr}")


def picture(folder, *args, script="plot.py"):
    path = pathlib.Path(folder) / "picture.png"
    path.unlink(missing_ok=True)
    done = subprocess.run([sys.executable, ROOT / "scripts" / script, *args, "-o", path], capture_output=True, text=True)
    check(done.returncode == 0 and path.is_file() and path.stat().st_size > 5000, f"{script} {args}: {done.stderr}")


def files(folder):
    import h5py
    import numpy
    for dim, n, centering in ((1, "64", "cell"), (2, "20x30", "vertex"), (3, "8x10x12", "cell"), (3, "8x10x12", "vertex")):
        h5 = f"{folder}/field{dim}{centering}.h5"
        run("poisson", "--dim", str(dim), "--n", n, "--centering", centering, "--output", h5, "--json", f"{folder}/one.json")
        shape = tuple(int(s) for s in n.split("x"))[::-1]
        with h5py.File(h5) as f:
            check(f["u"].shape == shape and numpy.isfinite(f["u"][...]).all() and numpy.abs(f["u"][...]).max() > 0.1, h5)
        tree = xml.parse(h5.replace(".h5", ".xdmf"))
        kinds = {a.get("Center") for a in tree.iter("Attribute")}
        check(kinds == {"Cell" if centering == "cell" else "Node"}, f"xdmf of {h5}: {kinds}")
        topology = [int(x) for x in next(tree.iter("Topology")).get("Dimensions").split()]
        want = [(int(s) + (centering == "cell")) for s in reversed(n.split("x"))]
        check(topology[-dim:] == want, f"xdmf of {h5}: {topology}, {want}")
        picture(folder, "slice", h5)
    picture(folder, "history", f"{folder}/one.json")


PARTS = [poisson, bad_input, devices, processes, others, flows, layered, sphere, screens, stencils, media, files]
wanted = sys.argv[3:] or [part.__name__ for part in PARTS]
ran = 0
with tempfile.TemporaryDirectory() as scratch:
    for part in [*PARTS, tuning]:
        if part.__name__ in wanted:
            left_out = part(scratch)
            ran += not left_out
            word = "  FAILED  " if failures else "  SKIPPED " if left_out else "       OK "  # as cmocka says it
            print(f"[{word}] {part.__name__}", flush=True)
            if left_out:
                print(f"skipped: {left_out}")
print("\n".join(failures) if failures else "demos: all as expected")
sys.exit(1 if failures else 0 if ran else 77)
