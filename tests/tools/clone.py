#!/usr/bin/env python3
"""Runs the demo clone on small images, compares with dense solutions of its equation and checks what it says of bad input. Images
are written and read here, as bytes. Usage: clone.py DEMO_FOLDER SOURCE_ROOT"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile
import zlib

import numpy

CLONE, ROOT = pathlib.Path(sys.argv[1]) / "clone", pathlib.Path(sys.argv[2])
BESIDE = ((-1, 0), (1, 0), (0, -1), (0, 1))  # x, y
failures = []


def run(*args, code=0, says=None):
    args = [str(a) for a in args]
    done = subprocess.run([CLONE, *args, *(() if "--device" in args else ("--device", "host"))], capture_output=True, text=True, timeout=300)
    text = done.stdout + done.stderr
    if done.returncode != code or (says and says not in text):
        failures.append(f"clone {' '.join(args)}: exit {done.returncode}, wanted {code} and {says!r}\n{text[-600:]}")
    return done.stdout


def check(condition, words):
    if not condition:
        failures.append(words)


def chunk(name, data):
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def write(path, levels, depth=8, palette=None):
    """levels: [height][width][channels], 1 to 4 of them; with a palette: numbers in it, [height][width][1]."""
    height, width, channels = levels.shape
    kind = 3 if palette else {1: 0, 2: 4, 3: 2, 4: 6}[channels]
    rows = levels.astype(">u2" if depth == 16 else "u1")
    data = b"".join(b"\0" + row.tobytes() for row in rows)
    chunks = chunk(b"IHDR", struct.pack(">IIBBBBB", width, height, depth, kind, 0, 0, 0))
    for name, values in palette or ():
        chunks += chunk(name, bytes(values))
    path.write_bytes(b"\x89PNG\r\n\x1a\n" + chunks + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b""))
    return path


def paeth(a, b, c):
    return min((abs(b - c), 0, a), (abs(a - c), 1, b), (abs(a + b - 2 * c), 2, c))[2]


def read(path):
    """[height][width][channels] of levels, and the depth."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, name = struct.unpack(">I4s", data[at:at + 8])
        body = data[at + 8:at + 8 + size]
        if name == b"IHDR":
            width, height, depth, kind = struct.unpack(">IIBB", body[:10])
        packed += body if name == b"IDAT" else b""
        at += size + 12
    channels = {0: 1, 4: 2, 2: 3, 6: 4}[kind]
    step, raw = channels * depth // 8, zlib.decompress(packed)
    length, rows, before = width * step, [], bytearray(width * step)
    for y in range(height):
        how, row = raw[y * (length + 1)], bytearray(raw[y * (length + 1) + 1:(y + 1) * (length + 1)])
        for i in range(length):
            a, b, c = (row[i - step], before[i], before[i - step]) if i >= step else (0, before[i], 0)
            row[i] = (row[i] + (0, a, b, (a + b) // 2, paeth(a, b, c))[how]) & 255
        rows.append(bytes(row))
        before = row
    return numpy.frombuffer(b"".join(rows), ">u2" if depth == 16 else "u1").reshape(height, width, channels).astype(int), depth


def dense(target, source, mask, at, mixed):
    """One colour by Perez, Gangnet and Blake's equation, solved as it stands."""
    height, width = target.shape
    inside = {(x + at[0], y + at[1]) for y, x in zip(*numpy.nonzero(mask))}
    inside = sorted(p for p in inside if 0 <= p[0] < width and 0 <= p[1] < height)
    number = {p: i for i, p in enumerate(inside)}
    A, b = numpy.zeros((len(inside), len(inside))), numpy.zeros(len(inside))

    def at_source(x, y):
        return source[y - at[1], x - at[0]]

    for (x, y), i in number.items():
        for dx, dy in BESIDE:
            q = (x + dx, y + dy)
            if not (0 <= q[0] < width and 0 <= q[1] < height):
                continue
            t = target[y, x] - target[q[1], q[0]]  # goes on where the source ends
            there = 0 <= q[0] - at[0] < source.shape[1] and 0 <= q[1] - at[1] < source.shape[0]
            s = at_source(x, y) - at_source(*q) if there else t
            b[i] += t if mixed and abs(t) > abs(s) else s
            A[i, i] += 1
            if q in number:
                A[i, number[q]] -= 1
            else:
                b[i] += target[q[1], q[0]]
    result = target.astype(float)
    for (x, y), u in zip(inside, numpy.linalg.solve(A, b)):
        result[y, x] = u
    return result


def equation(folder):
    """All kinds of images, masks and places against the dense solution: to half a level, and not at all outside. Mixed ones have
    16 bits, where no two differences are as large as each other."""
    random = numpy.random.default_rng(5)
    cases = [(channels, source, depth, mixed, at) for channels, source, depth, mixed, at in (
        (3, 4, 8, 0, (3, 2)), (3, 4, 16, 0, (-4, 5)), (3, 3, 16, 1, (9, -3)), (1, 1, 8, 0, (2, 2)), (1, 2, 16, 1, (14, 6)),
        (4, 4, 16, 1, (0, 0)), (2, 1, 8, 0, (-3, -2)), (1, 3, 8, 0, (5, 4)), (3, 1, 16, 0, (5, 4)))]
    for number, (channels, of_source, depth, mixed, at) in enumerate(cases):
        most = 2**depth - 1
        target = random.integers(most // 3, 2 * most // 3, (15, 19, channels))  # in the middle: nothing is cut off
        source = random.integers(2 * most // 5, 3 * most // 5, (11, 12, of_source))
        mask = random.random((11, 12)) < 0.8
        files = ["--target", write(folder / "t.png", target, depth), "--result", folder / "r.png", "--at", f"{at[0]}:{at[1]}"]
        if of_source in (2, 4):
            source[..., -1] = numpy.where(mask, random.integers(most // 2 + 1, most + 1, mask.shape), most // 2 - 1)
        else:
            light = numpy.where(mask, 129, 126)[..., None]
            files += ["--mask", write(folder / "m.png", light if number % 2 else light.repeat(3, 2), 8)]
        files += ["--source", write(folder / "s.png", source, depth)] + mixed * ["--mixed"]
        run(*files, "--quiet")
        result, depth_read = read(folder / "r.png")
        colours = max(1 if channels < 3 else 3, 1 if of_source < 3 else 3)
        check(result.shape[2] == colours + (channels % 2 == 0) and depth_read == depth, f"case {number}: result {result.shape}")
        for c in range(colours):
            t, s = target[..., c if channels > 2 else 0], source[..., c if of_source > 2 else 0]
            exact = numpy.clip(dense(t, s, mask, at, mixed), 0, most)
            check(abs(result[..., c] - exact).max() < 0.51, f"case {number}, colour {c}: off by {abs(result[..., c] - exact).max()}")
            check((result[..., c] == t)[exact == t].all(), f"case {number}, colour {c}: changed outside")
        check(channels % 2 or (result[..., -1] == target[..., -1]).all(), f"case {number}: alpha of the target")


def shifts(folder):
    """A constant added to the source is not seen, nor a plane where the source reaches beyond what is cloned; nor is a flat source
    with mixed differences."""
    random = numpy.random.default_rng(6)
    y, x = numpy.mgrid[:90, :120]
    for depth, level in ((8, 1), (16, 257)):
        target = 100 * level + random.integers(-40 * level, 40 * level, (90, 120, 3))
        write(folder / "t.png", target, depth)
        mask = numpy.zeros((60, 80, 1))
        mask[1:-1, 1:-1] = 255
        write(folder / "m.png", mask)
        for add, more in ((9 * level, ()), (level * numpy.stack([x, y, 50 - y], 2), ("--mask", folder / "m.png"))):
            source = (target + add)[10:70, 20:100]
            check(0 <= source.min() and source.max() < 2**depth, "the test's source")
            run("--source", write(folder / "s.png", source, depth), "--target", folder / "t.png", "--at", "20:10", "--result", folder / "r.png", *more, "--quiet")
            check((read(folder / "r.png")[0] == target).all(), f"{depth} bits: a shift of the source is seen")
        write(folder / "s.png", numpy.full((60, 80, 3), 7 * level), depth)
        flat = ["--source", folder / "s.png", "--target", folder / "t.png", "--at", "20:10", "--result", folder / "r.png", "--quiet"]
        run(*flat, "--mixed")
        check((read(folder / "r.png")[0] == target).all(), f"{depth} bits: a flat source is seen through mixed differences")
        run(*flat)
        check((read(folder / "r.png")[0][12:68, 22:98] - 100.0 * level).std() < 0.2 * target.std(), "a flat source does not flatten")


def own(folder):
    """The images that it draws: nothing moves outside, and the seam is gone."""
    out = run("--save", folder / "own", "--json", folder / "own.json")
    check("blue" in out and "grey levels" in out, "no table")
    report = json.loads((folder / "own.json").read_text())
    check(report["leak"] < 0.01 and report["defect"] < 0.01 and report["pixels"] > 20000, f"own: {report['leak']}, {report['defect']}")
    check([solve["colour"] for solve in report["solves"]] == ["red", "green", "blue"] and max(solve["cycles"] for solve in report["solves"]) < 13, "own: cycles")
    drawn = subprocess.run([sys.executable, ROOT / "scripts/models.py", "clone", folder / "own", "-o", folder / "four.png"], capture_output=True, text=True)
    check(drawn.returncode == 0 and 50000 < (folder / "four.png").stat().st_size < 300000, f"models.py: {drawn.stderr}")
    target, source, pasted, blended = (read(folder / f"own-{name}.png")[0] for name in ("target", "source", "pasted", "blended"))
    inside = (pasted != target).any(2)
    check((blended == target)[~inside].all(), "own: changed outside")
    check(abs(inside.sum() / (source[..., 3] > 127).sum() - 1) < 0.01, "own: not what alpha says")
    seam = [abs(numpy.diff(image.astype(float), axis=1))[inside[:, 1:] != inside[:, :-1]].max() for image in (target, blended, pasted)]
    check(seam[1] < seam[0] + 12 < 40 < seam[2], f"own: steps of {seam} across the border in the target, the result and the naive paste")


def palettes(folder):
    """Palettes, with transparency, and fewer bits are read."""
    numbers = (numpy.add.outer(numpy.arange(8), numpy.arange(9)) % 3)[..., None]
    palette = [(b"PLTE", [250, 0, 0, 0, 250, 0, 0, 0, 250]), (b"tRNS", [255, 0, 255])]
    write(folder / "s.png", numbers, 8, palette)
    write(folder / "t.png", numpy.full((20, 20, 3), 100))
    run("--source", folder / "s.png", "--target", folder / "t.png", "--at", "4:4", "--save", folder / "p", "--quiet")
    pasted = read(folder / "p-pasted.png")[0][4:12, 4:13]
    colours = numpy.array([[250, 0, 0], [100, 100, 100], [0, 0, 250]])
    check((pasted == colours[numbers[..., 0]]).all(), "palette or its transparency")


def bad_input(folder):
    image = write(folder / "t.png", numpy.full((20, 30, 3), 100))
    small = write(folder / "s.png", numpy.full((8, 9, 4), 200))
    black = write(folder / "black.png", numpy.zeros((8, 9, 1)))
    clear = write(folder / "clear.png", numpy.zeros((8, 9, 4)))
    text, cut = folder / "text.png", folder / "cut.png"
    text.write_text("This is not an image.")
    cut.write_bytes(image.read_bytes()[:60])
    both = ("--source", small, "--target", image)
    for args, code, says in (
            (("--source", small), 2, "--target is missing"), (("--target", image), 2, "--source is missing"),
            (("--mask", black), 2, f"--mask {black} needs --source and --target"),
            (("--source", folder / "none.png", "--target", image), 1, f"--source {folder / 'none.png'}: No such file"),
            (("--source", small, "--target", text), 1, f"--target {text}: not a PNG file"),
            (("--source", cut, "--target", image), 1, f"--source {cut}: "),
            ((*both, "--mask", image), 1, "30 x 20 pixels, but the source has 9 x 8"),
            ((*both, "--mask", black), 1, f"--mask {black}: no pixel is marked"),
            (("--source", clear, "--target", image), 1, f"--source {clear}: no pixel is marked"),
            ((*both, "--at", "30:0"), 1, "--at 30:0: nothing that is cloned lies in the target's 30 x 20"),
            ((*both, "--at", "-9:0"), 1, "--at -9:0"), ((*both, "--at", "3x4"), 2, "--at '3x4': expected two whole numbers"),
            ((*both, "--at", "3:"), 2, "--at '3:'"), ((*both, "--at", "1:2.5"), 2, "--at '1:2.5'"),
            (("--source", image, "--target", small), 1, "covers the whole target"),
            ((*both, "--result", folder / "no/such.png"), 1, f"--result {folder / 'no/such.png'}: No such file"),
            ((*both, "--save", folder / "no/such"), 1, f"--save {folder / 'no/such'}-target.png: No such file"),
            (("--rtol", "0.9"), 1, "the differences inside are off by"), (("--max-cycles", "1"), 1, "not converged"),
            (("--nonsense",), 2, "--nonsense"), (("--n", "8"), 2, "--n"), (("--device", "nonsense"), 2, "nonsense")):
        run(*args, code=code, says=says)
    run("--help", says="--mixed")


def device(folder):
    """On a CUDA device, where there is one, the same image."""
    tried = subprocess.run([CLONE, "--device", "cuda", "--save", folder / "cuda"], capture_output=True, text=True, timeout=300)
    if tried.returncode == 0:
        run("--save", folder / "host")
        a, b = (read(folder / f"{name}-blended.png")[0] for name in ("cuda", "host"))
        check(abs(a - b).max() <= 1 and (a != b).mean() < 1e-3, "not the same on the device")
    else:
        check("clone: --device cuda:0: " in tried.stderr, f"--device cuda without one: {tried.stderr}")


with tempfile.TemporaryDirectory() as scratch:
    for part in (equation, shifts, own, palettes, bad_input, device):
        part(pathlib.Path(scratch))
print("\n".join(failures) if failures else "clone: all as expected")
sys.exit(1 if failures else 0)
