#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs perf/run_all --quick, and checks the JSON and the figures of each program:

    test_run_all.py perf/run_all FOLDER_OF_PROGRAMS

Without matplotlib it checks the JSON only, and ends with exit code 77."""
import json
import os
import pathlib
import re
import shutil
import stat
import subprocess
import sys
import tempfile

# Times are in milliseconds, storage in MB; GFLOPs and GBps are rates.
PRODUCT = ("median_ms lower_quartile_ms upper_quartile_ms GFLOPs GBps fraction_of_read storage_MB max_rel_error "
           "conversion_ms rows columns entries block_size noise speedup_vs_kokkos_kernels").split()
SOLVER = ("iterations converged relative_residual solution_error solve_ms iteration_ms time_to_solution_ms "
          "solution_speedup_vs_kokkos_kernels pays_after_iterations").split()
LAUNCH = ("lanes_per_row lanes_per_team median_ms GFLOPs effective_GBps cost_half_warps cost_sectors picked_half_warps "
          "picked_sectors").split()
# The suffixes of the figures of each step.
FIGURES = {"spmv_grid_1_unknown": [""], "spmv_grid_4_unknowns": [""], "dof_double": ["_speed", "_bandwidth", "_storage"],
           "dof_float": ["_speed", "_bandwidth", "_storage"],
           "hybrid": ["_speed", "_cg"], "ellpack": ["_kernels", "_configurations", "_launches", "_models", "_bandwidth", "_one_core"],
           "solver": ["_iteration", "_solution"], "select": [""], "roofline": [""]}


def fail(*words):
    print("test_run_all:", *words, file=sys.stderr)
    sys.exit(1)


def check(condition, *words):
    if not condition:
        fail(*words)


class Benchmarks:
    """The benchmarks of a JSON file by their names without /manual_time."""

    def __init__(self, path):
        content = json.loads(path.read_text())
        self.path = path.name
        self.context = content["context"]
        self.by_name = {re.sub("/(iterations:1/)?manual_time$", "", one["name"]): one for one in content["benchmarks"]}
        for key in ("device", "backend", "read_bandwidth_GBps", "filigree_version", "kokkos_version"):
            check(self.context.get(key), path.name, "has no", key)

    def get(self, name):
        check(name in self.by_name, self.path, "has no benchmark", name, "but", sorted(self.by_name))
        return self.by_name[name]

    def check_product(self, name, more=()):
        """The product was checked: its error is a number near the rounding error of its type."""
        one = self.get(name)
        for counter in (*PRODUCT, *more):
            check(isinstance(one.get(counter), (int, float)), name, "has no counter", counter, one)
        epsilon = 1.2e-7 if "/float/" in name else 2.3e-16
        # A product that was not checked has the error 0. Sums of these matrices round.
        check(0 < one["max_rel_error"] <= 100 * epsilon, name, "has the error", one["max_rel_error"])
        check(one["time_unit"] == "ms" and one["median_ms"] > 0, name, "has no time in ms")
        check(abs(one["GFLOPs"] - 2e-6 * one["entries"] / one["median_ms"]) < 1e-3 * one["GFLOPs"], name, "GFLOPs", one)
        return one


def solution_has_limit(path):
    """Whether, for one of the problems, the rest of the iteration takes time with each format. Without that its figure has no
    limit. Problems as small as these can seem to have longer products than iterations, because of the noise."""
    least = {}
    for name, one in Benchmarks(path).by_name.items():
        kernel, problem = name.split("/")[1], name.split("/")[3]
        if one.get("converged") and kernel != "kokkos_kernels":
            rest = one["iteration_ms"] - one["median_ms"]
            least[problem] = min(rest, least.get(problem, rest))
    return any(rest > 0 for rest in least.values())


def check_dof(scalar):
    def check_grids(data):
        for grid, points in (("5pt_24x24", 5), ("5pt_32x32", 5), ("7pt_8x8x8", 7), ("7pt_12x12x12", 7)):
            for dof in (1, 2, 3):
                for name in ("kokkos_kernels", "dia", "ell", "sell", "crs"):
                    data.check_product(f"dof/{name}/{scalar}/{grid}_dof{dof}", ["diagonals", "formula_MB"])
                cds = data.check_product(f"dof/cds/{scalar}/{grid}_dof{dof}", ["diagonals", "formula_MB"])
                cells = 1
                for extent in grid[4:].split("x"):
                    cells *= int(extent)
                check((cds["rows"], cds["block_size"], cds["diagonals"]) == (cells * dof, dof, points), "sizes of", cds["name"])
                size = 8 if scalar == "double" else 4
                check(abs(cds["formula_MB"] - 1e-6 * (points * dof * cells * dof * size + 4 * points)) < 1e-9,
                      "formula_MB of", cds["name"], cds["formula_MB"])
                padding = 1e6 * (cds["storage_MB"] - cds["formula_MB"]) / (points * dof)
                is_padded = cells * dof * size >= 8192
                check(-1e-3 < padding < (512 if is_padded else 1e-3), "bytes of padding per column of", cds["name"], padding)
    return check_grids


def check_hybrid(data):
    for problem in ("grid_7pt", "grid_27pt", "power_law_to_30", "power_law_to_1000", "power_law_to_85000"):
        for name in ("hec", "hec_third_of_rows", "hyb", "hyb_least_bytes"):
            one = data.check_product(f"hybrid/{name}/double/{problem}", ["ell_width", "excess_share"])
            check(0 <= one["excess_share"] <= 1 and one["ell_width"] >= 0, "width and share of", one["name"])
        for name in ("crs_lanes1", "crs_lanes32", "kokkos_kernels"):
            data.check_product(f"hybrid/{name}/double/{problem}")
    check(data.get("hybrid/hec/double/grid_7pt")["ell_width"] in (6, 7), "the width of HEC of a 7-point grid is not 6 or 7")
    check(data.get("hybrid/hec_third_of_rows/double/power_law_to_85000")["excess_share"] > 0, "no excess entries in HEC")
    for name in ("kokkos_kernels", "hec", "hyb", "ell", "crs_lanes1", "crs_lanes32"):
        check_solver_entry(data, f"hybrid/{name}/double/cg_grid_7pt")


def check_solver_entry(data, name):
    one = data.check_product(name, SOLVER)
    check(one["converged"] == 1 and one["relative_residual"] <= 1e-8, name, "did not converge", one)
    check(one["solution_error"] < 1e-5, name, "has a wrong solution: its error is", one["solution_error"])
    check(abs(one["iteration_ms"] * one["iterations"] - one["solve_ms"]) < 1e-3 * one["solve_ms"], name, "iteration_ms")
    return one


def check_solver(data):
    for problem in ("7pt_20x20x20_dof1", "7pt_8x8x8_dof4"):
        first = check_solver_entry(data, f"solver/kokkos_kernels/double/{problem}")
        for name in ("crs", "crs_balanced", "ell", "sell", "hyb", "hec", "jds", "dia", "cds", "coo"):
            one = check_solver_entry(data, f"solver/{name}/double/{problem}")
            # Sums in another order round differently, which changes the iterations little.
            check(abs(one["iterations"] - first["iterations"]) <= 3, one["name"], "needs", one["iterations"], "iterations,",
                  "Kokkos Kernels", first["iterations"])


def check_refused_matrices(solver, work):
    """filigree_solver refuses matrices that conjugate gradients cannot solve with, and goes on."""
    head = "%%MatrixMarket matrix coordinate real general\n"
    (work / "indefinite.mtx").write_text(head + "2 2 2\n1 1 1\n2 2 -1\n")
    (work / "rectangular.mtx").write_text(head + "2 3 2\n1 1 1\n2 2 1\n")
    (work / "broken.mtx").write_text(head + "2 2 2\n1 1 1\n")
    (work / "one_way.mtx").write_text(head + "3 3 4\n1 1 2\n2 2 2\n3 3 2\n1 2 1\n")
    files = ",".join(str(work / f"{name}.mtx") for name in ("indefinite", "rectangular", "broken", "one_way"))
    done = subprocess.run([str(solver), "--quick", "--grids=6x6", "--dofs=1", "--formats=cds", f"--matrix={files}",
                           f"--out={work / 'refused.json'}"], capture_output=True, text=True, check=False)
    check(done.returncode == 0, "filigree_solver fails:", done.stderr)
    data = Benchmarks(work / "refused.json")
    check_solver_entry(data, "solver/cds/double/5pt_6x6_dof1")
    for name, reason in (("indefinite", "positive definite"), ("rectangular", "2 rows and 3 columns"), ("broken", "truncated"),
                         ("one_way", "need a symmetric matrix")):
        found = data.get(f"solver/all/double/{name}")
        check(found.get("error_occurred") and reason in found["error_message"], name, "has the message", found)
        check(f"{name}: not measured: " in done.stdout, "the output does not say why", name, "is not measured:", done.stdout)


def check_methods(solver, work):
    """filigree_solver --methods measures the solvers, and refuses names that it does not have."""
    flags = ["--quick", "--grids=8x7x6,9x8", "--dofs=2,1", f"--out={work / 'methods.json'}"]
    done = subprocess.run([str(solver), *flags, "--methods=all"], capture_output=True, text=True, check=False)
    check(done.returncode == 0, "filigree_solver --methods fails:", done.stderr)
    data = Benchmarks(work / "methods.json")
    usual = ["cg", "cg_jacobi", "pipelined_cg_jacobi", "cg_block_jacobi", "cg_chebyshev", "cg_gauss_seidel", "cg_lines_x",
             "cg_lines_y", "block_cg_jacobi_4_columns", "bicgstab_jacobi", "gmres_jacobi"]
    for problem, more in (("7pt_8x7x6_dof2", ["cg_lines_z"]), ("5pt_9x8_dof1", [])):
        for name in usual + more + ["kokkos_cg_jacobi", "kokkos_bicgstab_jacobi", "cg_jacobi_4_columns"]:
            one = data.get(f"solver/{name}/double/{problem}")
            check(one["solution_error"] < 1e-6, name, "has a wrong solution: its error is", one["solution_error"])
            check(one["iterations"] > 0 and one["iteration_ms"] > 0, name, "did nothing:", one)
            check(name.startswith("kokkos_") or one["iteration_bytes"] > 0, name, "has no number of bytes:", one)
            check(f"{name} " in done.stdout, name, "is not in the table:", done.stdout)
        sweeps = data.get(f"solver/cg_gauss_seidel/double/{problem}")["iterations"]
        check(sweeps < data.get(f"solver/cg_jacobi/double/{problem}")["iterations"], "Gauss-Seidel needs", sweeps, "iterations")
    done = subprocess.run([str(solver), *flags, "--methods=cg,multigrid"], capture_output=True, text=True, check=False)
    check(done.returncode != 0 and "multigrid" in done.stderr, "an unknown method is not refused:", done.stderr)


def check_ellpack(data):
    # Rows and entries of the small generated matrices: 12 * 3^4 rows of 39 entries; 17 * 33 states.
    sizes = {"qcd5_4": (972, 972 * 39), "mc2depi": (561, None), "dense2": (100, 10000), "fem3": (648, None)}
    for problem, (rows, entries) in sizes.items():
        one = data.check_product(f"ellpack/ell/double/{problem}", ["mean_row_length", "row_length_deviation_percent"])
        check(one["rows"] == rows and entries in (None, one["entries"]), problem, "has", one["rows"], one["entries"])
        for name in ("crs_lanes1", "crs_lanes16", "crs_lanes32", "ellpack", "hyb"):
            data.check_product(f"ellpack/{name}/double/{problem}")
        for name in ("ellr_t_best", "ellr_t_worst", "ellr_t_half_warps", "ellr_t_sectors"):
            data.check_product(f"ellpack/{name}/double/{problem}", ["lanes_per_row", "lanes_per_team"])
        launches = [one for name, one in data.by_name.items() if name.startswith("ellpack/launch_") and name.endswith("/" + problem)]
        check(len({one["lanes_per_row"] for one in launches}) == 6, problem, "has launches", [one["name"] for one in launches])
        for one in launches:
            for counter in LAUNCH:
                check(isinstance(one.get(counter), (int, float)), one["name"], "has no counter", counter)
        for model in ("half_warps", "sectors"):
            check(sum(one[f"picked_{model}"] for one in launches) == 1, problem, "has not one pick of", model)


def check_select(data):
    for problem, rows in (("small grid", 1024), ("small power law", 1000)):
        for name in ("crs", "crs_balanced", "coo", "sell_sorted", "hec"):
            one = data.get(f"select/{name}/double/{problem}")
            check(one["rows"] == rows and one["median_ms"] > 0 and one["predicted_ms"] > 0, "figures of", one)
        picked = [name for name, one in data.by_name.items() if name.endswith("/" + problem) and one.get("picked")]
        check(len(picked) == 1, problem, "has the picks", picked)


def has_matplotlib(python):
    return os.path.exists(python) and subprocess.run([python, "-c", "import matplotlib"], capture_output=True,
                                                     check=False).returncode == 0


CHECKS = {"dof_double": check_dof("double"), "dof_float": check_dof("float"), "hybrid": check_hybrid, "solver": check_solver,
          "ellpack": check_ellpack, "select": check_select}


def check_cusparse(data):
    """On a GPU each problem has a product of cuSPARSE."""
    if data.context["backend"] != "Cuda":
        return
    problems = {tuple(name.split("/")[i] for i in (0, 2, 3)) for name in data.by_name if name.split("/")[1] != "all"}
    for program, scalar, problem in problems:
        one = data.get(f"{program}/cusparse_csr_alg1/{scalar}/{problem}")
        check(one["median_ms"] > 0, "no time of", one["name"])


def main():
    # If this python3 has no matplotlib, that of the system may have it.
    system = "/usr/bin/python3"
    if sys.executable != system and not has_matplotlib(sys.executable) and has_matplotlib(system):
        os.execv(system, [system, *sys.argv])
    run_all, programs = (pathlib.Path(argument).resolve() for argument in sys.argv[1:])
    work = pathlib.Path(tempfile.mkdtemp())
    environment = dict(os.environ, PYTHONDONTWRITEBYTECODE="1")

    def run(*arguments):
        return subprocess.run([sys.executable, str(run_all), *map(str, arguments)], capture_output=True, text=True, check=False,
                              env=environment)
    try:
        draws = has_matplotlib(sys.executable)
        out = work / "out"
        first = run(programs, "--quick", "--out", out)
        check(first.returncode == 0, "it fails:", first.stdout, first.stderr)
        for name, of_name in CHECKS.items():
            check((out / f"{name}.json").exists(), f"no {name}.json:", first.stdout, (out / f"{name}.txt").read_text())
            data = Benchmarks(out / f"{name}.json")
            of_name(data)
            if name != "select":
                check_cusparse(data)
        check_refused_matrices(programs / "filigree_solver", work)
        check_methods(programs / "filigree_solver", work)
        for name in ("grid_1_unknown", "grid_4_unknowns"):
            check('"name": "spmv/cds/double/' in (out / f"spmv_{name}.json").read_text(), f"no product of CDS in spmv_{name}.json")
        check(not list(out.glob("*.part")), "unfinished files:", list(out.glob("*.part")))
        if not draws:
            print("test_run_all: there is no matplotlib, so no figure was tested")
            return 77
        page = (out / "index.html").read_text()
        has_one_core = '"name": "ellpack/one_host_core/' in (out / "ellpack.json").read_text()
        for name, suffixes in FIGURES.items():
            for suffix in suffixes:
                if suffix == "_one_core" and not has_one_core:
                    continue
                for extension in (".png", ".svg"):
                    file = out / (name + suffix + extension)
                    check(file.exists() and file.stat().st_size > 5000, "no figure", file.name)
                    check(file.name in page, "index.html does not show", file.name)
                text = (out / (name + suffix + ".svg")).read_text()
                # The limit of the launches is the frame around 1.
                if suffix != "_launches" and (suffix != "_solution" or solution_has_limit(out / "solver.json")):
                    check('id="limit"' in text, "no limit in", name + suffix)
        check("Failed" not in page, "index.html has an error")

        # Again: nothing is measured twice. A deleted file is measured again.
        before = {file.name: file.stat().st_mtime_ns for file in out.glob("*.json")}
        (out / "solver.json").unlink()
        again = run(programs, "--quick", "--out", out)
        check(again.returncode == 0, "the second run fails:", again.stdout, again.stderr)
        changed = [name for name, time in before.items() if (out / name).stat().st_mtime_ns != time]
        check(changed == ["solver.json"], "the second run measured", changed)
        # If all is measured, the programs are not needed to draw it.
        (out / "select.png").unlink()
        drawn = run(work / "nowhere", "--quick", "--matrices", work / "nowhere", "--out", out)
        check(drawn.returncode == 0 and (out / "select.png").exists(), "it does not draw without programs:", drawn.stderr)

        # The folder of a quick run is not taken for that of a full run.
        (out / "select.txt").write_text("filigree_select --generated\n")
        other = run(programs, "--quick", "--out", out)
        check(other.returncode == 1 and "was measured by filigree_select --generated, not by" in other.stdout,
              "results of another command are used:", other.stdout)
        (out / "select.json").unlink()
        check(run(programs, "--quick", "--out", out).returncode == 0, "it does not measure again")

        # A program that fails, and one that takes too long: the page says so, and the other steps are done.
        broken = work / "programs"
        broken.mkdir()
        for program in ("spmv", "dof", "hybrid", "ellpack", "solver", "select"):
            (broken / f"filigree_{program}").symlink_to(programs / f"filigree_{program}")
        for program, body in (("dof", "echo it is broken >&2; exit 3"), ("solver", "exec sleep 100")):
            script = broken / f"filigree_{program}"
            script.unlink()
            script.write_text(f"#!/bin/sh\n{body}\n")
            script.chmod(script.stat().st_mode | stat.S_IXUSR)
        for name in ("dof_float", "solver"):
            (out / f"{name}.json").unlink()
        bad = run(broken, "--quick", "--out", out, "--time-limit=2")
        check(bad.returncode == 1 and "2 of 8 steps failed" in bad.stdout, "errors are not reported:", bad.stdout, bad.stderr)
        page = (out / "index.html").read_text()
        check("filigree_dof ended with exit code 3: it is broken" in page, "the page does not say what failed")
        check("it took longer than 2 seconds" in page, "the page does not say what took too long")
        check("hybrid_speed.png" in page, "the page does not have the other figures")

        for arguments, message in (((work / "nowhere", "--out", work / "new"), "there is no "),
                                   ((programs, "--out", work / "new", "--matrices", work / "nowhere"), "is not a folder")):
            refused = run(*arguments)
            check(refused.returncode == 2 and message in refused.stderr, "accepted:", arguments, refused.stderr)
    finally:
        shutil.rmtree(work)
    print("test_run_all: passed")
    return 0


if __name__ == "__main__":
    sys.exit(main())
