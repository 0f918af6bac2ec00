#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs filigree_distributed on 1, 2 and 4 ranks with tiny grids, checks its JSON, and draws it:

    test_filigree_distributed.py plot.py filigree_distributed mpiexec [flag...]

The flags begin those of mpiexec and end with the one for the number of ranks. Without matplotlib nothing is drawn.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

FORMATS = ("cds", "auto")


def fail(text):
    sys.exit(f"test_filigree_distributed: {text}")


def run(command):
    done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, timeout=300)
    return done.returncode, done.stdout, done.stderr


def has_matplotlib(python):
    return pathlib.Path(python).exists() and run([python, "-c", "import matplotlib"])[0] == 0


def check(path, ranks):
    """Checks the file of a run."""
    content = json.loads(path.read_text())
    entries = {tuple(one["name"].split("/")[1:4:2]): one for one in content["benchmarks"]}
    problems = {problem for format_name, problem in entries if format_name in FORMATS}
    expected = {("strong", "12x12x12", "blocks"), ("file",)}
    if ranks == 4:
        expected.add(("strong", "12x12x12", "slabs"))
    expected.add({1: ("weak", "8x8x8", "blocks"), 2: ("weak", "8x8x16", "blocks"), 4: ("weak", "8x16x16", "blocks")}[ranks])
    found = {tuple(word for word in problem.split("_") if not word.startswith(("dof", "ranks"))) for problem in problems}
    if found != expected:
        fail(f"on {ranks} ranks the problems are {sorted(found)} instead of {sorted(expected)}")
    for (format_name, problem), entry in entries.items():
        if format_name not in FORMATS:
            continue
        where = f"{path.name}, {format_name}, {problem}"
        if entry["ranks"] != ranks:
            fail(f"{where}: {entry['ranks']} ranks")
        for key in ("median_ms", "tpetra_ms", "time_vs_tpetra", "owned_ms"):
            if not entry[key] > 0:
                fail(f"{where}: {key} is {entry[key]}")
        if (entry["exchange_ms"] > 0) != (ranks > 1):
            fail(f"{where}: exchange_ms is {entry['exchange_ms']}")
        # Neither Filigree nor Tpetra sends an element twice, or one that nobody needs.
        for key in ("sent_bytes", "tpetra_sent_bytes"):
            if entry[key] != entry["least_bytes"]:
                fail(f"{where}: {key} is {entry[key]}, and the least is {entry['least_bytes']}")
        if "strong" in problem and "blocks" in problem:
            # Faces of 12 x 12 cells with 4 unknowns of 8 bytes, in both directions: one cut, or two.
            cuts = {1: 0, 2: 1, 4: 2}[ranks]
            if entry["least_bytes"] != cuts * 2 * 12 * 12 * 4 * 8:
                fail(f"{where}: least_bytes is {entry['least_bytes']}")
        if format_name == "cds":
            # The model, from the figures that the file gives.
            ring = entries["calibration", f"ring_ranks{ranks}"]
            cells = [int(number) for number in problem.split("_")[1].split("x")]
            if "blocks" in problem and ranks > 1:
                faces = entry["least_bytes"] / ranks / 8  # each rank has equally many
                seconds = 1e-6 * ring["message_us"] * {2: 1, 4: 2}[ranks] + 8 * faces / (1e9 * ring["network_GBps"])
                if abs(entry["model_exchange_ms"] - 1e3 * seconds) > 1e-3 * entry["model_exchange_ms"]:
                    fail(f"{where}: the model's exchange takes {entry['model_exchange_ms']} instead of {1e3 * seconds} ms")
                rows = 4 * cells[0] * cells[1] * cells[2] / ranks
                seconds = ((7 * 4 + 2) * 8 * rows + 28) / (1e9 * entry["model_bandwidth_GBps"])
                if abs(entry["model_owned_ms"] - 1e3 * seconds) > 1e-3 * entry["model_owned_ms"]:
                    fail(f"{where}: the model's owned columns take {entry['model_owned_ms']} instead of {1e3 * seconds} ms")
    predicted = [entry for (name, _), entry in entries.items() if name == "model"]
    if max(entry["ranks"] for entry in predicted) < 4096:
        fail("there is no prediction for thousands of GPUs")


def main(plot, program, *launcher):
    with tempfile.TemporaryDirectory() as folder:
        work = pathlib.Path(folder)
        matrix = work / "file.mtx"
        rows = 40
        entries = [(row, row) for row in range(1, rows + 1)] + [(row, rows + 1 - row) for row in range(1, rows + 1)]
        matrix.write_text(f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {len(entries)}\n" +
                          "".join(f"{row} {column} {row}.5\n" for row, column in entries))
        files = []
        for ranks in (1, 2, 4):
            files.append(work / f"ranks_{ranks}.json")
            code, out, err = run([*launcher, str(ranks), program, "--quick", f"--matrix={matrix}", f"--out={files[-1]}"])
            if code != 0:
                fail(f"exit code {code} on {ranks} ranks: {out}{err}")
            check(files[-1], ranks)
        for flag, text in (("--weak=8x8", '"8x8" must have three extents'), ("--dof=0", "--dof"), ("--strong=0x1x1", "--strong")):
            code, out, err = run([*launcher, "2", program, "--quick", flag])
            if code == 0 or text not in err:
                fail(f"{flag} was accepted, or refused without \"{text}\": {err}")
        # If this python3 has no matplotlib, that of the system may have it.
        python = next((one for one in (sys.executable, "/usr/bin/python3") if has_matplotlib(one)), None)
        if python is None:
            print("test_filigree_distributed: there is no matplotlib, so nothing was drawn")
            sys.exit(77)
        code, out, err = run([python, plot, "distributed", *map(str, files), f"--out={work / 'd'}"])
        wanted = [str(work / f"d_{figure}.{kind}") for figure in ("scaling", "model", "gpus") for kind in ("png", "svg")]
        if code != 0 or out.split() != wanted:
            fail(f"plot.py printed {out}{err}")
        for path in wanted:
            if pathlib.Path(path).stat().st_size < 5000:
                fail(f"{path} is empty")


if __name__ == "__main__":
    if len(sys.argv) < 4:
        sys.exit(__doc__)
    main(*sys.argv[1:])
