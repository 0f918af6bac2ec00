#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Checks what filigree_petsc prints and writes, on one and on three ranks:
#
#     test_filigree_petsc.py FILIGREE_PETSC MPIEXEC [FLAG...]
import json
import pathlib
import subprocess
import sys
import tempfile

program, mpiexec, *flags = sys.argv[1:]
failures = []


def check(holds, text):
    if not holds:
        failures.append(text)


def run(ranks, *options):
    return subprocess.run([mpiexec, *flags, str(ranks), program, *options], capture_output=True, text=True, timeout=300)


with tempfile.TemporaryDirectory() as folder:
    for ranks in (1, 3):
        out = pathlib.Path(folder) / f"ranks_{ranks}.json"
        result = run(ranks, "--quick", "--dof=2", f"--out={out}")
        check(result.returncode == 0, f"{ranks} ranks: exit code {result.returncode}: {result.stderr}")
        if not out.is_file():
            failures.append(f"{ranks} ranks: there is no {out.name}")
            continue
        found = {one["name"]: one for one in json.loads(out.read_text())["benchmarks"]}
        check(len(found) == 4, f"{ranks} ranks: {len(found)} benchmarks, not 4: {sorted(found)}")
        for what in ("product", "cg"):
            for grid in ("strong_12x12x12", f"weak_8x8x{8 * ranks}"):
                ones = [one for name, one in found.items() if what in name and grid in name]
                check(len(ones) == 1, f"{ranks} ranks: {len(ones)} benchmarks of {what} and {grid}")
                for one in ones:
                    check(one["ranks"] == ranks, f"{one['name']}: {one['ranks']} ranks")
                    check(one["median_ms"] > 0 and one["aij_ms"] > 0 and one["speed_vs_aij"] > 0, f"{one['name']}: a time is not positive")
                    if what == "cg":
                        check(5 < one["solver_iterations"] < 100, f"{one['name']}: {one['solver_iterations']} iterations")
                    else:
                        check((one["exchange_ms"] > 0) == (ranks > 1), f"{one['name']}: {one['exchange_ms']} ms exchange")
        check(f"weak_8x8x{8 * ranks}_dof2_ranks{ranks}, cg: shell " in result.stdout,
              f"{ranks} ranks: a line is missing in:\n{result.stdout}")
    result = run(1, "--quick", "--strong=1024x1024x1024")
    check(result.returncode != 0 and "1024x1024x1024 cells with 4 unknowns on 1 ranks: " in result.stderr,
          f"too many cells: exit code {result.returncode}: {result.stderr}")
    result = run(3, "--quick", "--strong=4x4x2")
    check(result.returncode != 0 and "--strong: 4x4x2 cells are too few for 3 ranks" in result.stderr,
          f"too few cells: exit code {result.returncode}: {result.stderr}")
    result = run(1, "--quick", "--seconds=1")
    check(result.returncode != 0 and '"--seconds=1" is not an argument of this program' in result.stderr,
          f"--seconds: exit code {result.returncode}: {result.stderr}")

for failure in failures:
    print(failure)
sys.exit(1 if failures else 0)
