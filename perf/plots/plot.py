#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Draws the measurements of Filigree's programs.

    filigree_spmv --grid=64x64x64 --dof=4 --benchmark_out=grid.json
    perf/plots/plot.py bars grid.json --out=grid        # writes grid.png and grid.svg
    perf/plots/plot.py overview host/*.json h200/*.json --out=overview
    perf/plots/plot.py table host/*.json h200/*.json    # prints a table in Markdown
    perf/plots/plot.py compare h200 h200_again          # fails if a product became slower
    perf/plots/plot.py dof dof.json --out=dof           # writes dof_speed.png and more

The pictures have a white background of their own, so that they can be read on light and on dark pages. Their
colours differ in brightness, so that they can be told apart in print without colours.
"""
import argparse
import sys

import formats
import papers
from drawing import PlotError


def main():
    parser = argparse.ArgumentParser(prog="plot.py", description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("bars", help="speed of each format relative to Kokkos Kernels' CRS",
                                  description="Draws one diagram per file: the speed of each format relative to Kokkos "
                                  "Kernels' CRS, with the quartiles of its samples.")
    command.add_argument("file", nargs="+", help="JSON that filigree_spmv wrote with --benchmark_out=FILE")
    command.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX.png and PREFIX.svg")
    command.add_argument("--title", default="y = A*x in each format", help="default: %(default)s")
    command.set_defaults(run=formats.bars)
    command = commands.add_parser("overview", help="best format for several matrices, on one or more machines",
                                  description="Draws one diagram per machine: for each matrix the speed of the fastest "
                                  "formats relative to Kokkos Kernels' CRS. A file is named after its matrix: "
                                  "finite_elements.json is labelled \"finite elements\".")
    command.add_argument("file", nargs="+", help="JSON of filigree_spmv; the machines are drawn in the order of their files")
    command.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX.png and PREFIX.svg")
    command.add_argument("--title", default="Speed of y = A*x", help="default: %(default)s")
    command.set_defaults(run=formats.overview)
    command = commands.add_parser("table", help="the figures of the overview as a table in Markdown",
                                  description="Prints for each matrix and machine: speed and name of the fastest format, and "
                                  "of the format that optimize() picked, relative to Kokkos Kernels' CRS. On a GPU "
                                  "two columns have the speed of the fastest format relative to the fastest kernels of "
                                  "Kokkos Kernels and of cuSPARSE.")
    command.add_argument("file", nargs="+", help="JSON of filigree_spmv")
    command.set_defaults(run=formats.table)
    command = commands.add_parser("compare", help="how the time of each format changed between two runs",
                                  description="Prints for each file of BEFORE and for each format but auto the times in both "
                                  "folders and their ratio, the largest ratio first. Both must be of the same kind of machine. "
                                  "The ratio is corrected: on GPUs the times are multiplied by the read bandwidth of their run, "
                                  "on hosts they are relative to Kokkos Kernels' CRS. The exit code is 1 if a product of "
                                  "Filigree became slower or is missing in AFTER.")
    command.add_argument("before", metavar="BEFORE", help="folder with JSON of filigree_spmv")
    command.add_argument("after", metavar="AFTER", help="folder with the same files of a later run")
    command.add_argument("--most", type=float, default=1.05, metavar="X",
                         help="the largest ratio that is allowed; default: %(default)s")
    command.set_defaults(run=formats.compare)
    for name, function, programs, text in (
            ("dof", papers.dof, "filigree_dof", "speed, bandwidth and storage over the unknowns per cell"),
            ("hybrid", papers.hybrid, "filigree_hybrid", "HEC next to HYB, ELL and CRS, and in conjugate gradients"),
            ("ellpack", papers.ellpack, "filigree_ellpack", "launches and models of ELLR-T, next to other kernels"),
            ("solver", papers.solver, "filigree_solver", "time to solution with each format, and break-even")):
        command = commands.add_parser(name, help=text, description=f"Draws the measurements of {programs}: {text}.")
        command.add_argument("file", help=f"JSON that {programs} wrote with --out=FILE")
        command.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX_*.png and PREFIX_*.svg")
        command.set_defaults(run=function)
    command = commands.add_parser("distributed", help="products over MPI ranks, and the model of their time",
                                  description="Draws scaling, model against measurement, and the model for many GPUs.")
    command.add_argument("file", nargs="+", help="JSON that filigree_distributed wrote with --out=FILE, one per number of ranks")
    command.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX_*.png and PREFIX_*.svg")
    command.set_defaults(run=papers.distributed)
    command = commands.add_parser("prediction", help="predicted over measured times of the byte model",
                                  description="Draws predicted over measured times of all formats and matrices.")
    command.add_argument("file", help="JSON that filigree_select wrote with --out=FILE")
    command.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX.png and PREFIX.svg")
    command.set_defaults(run=papers.prediction)
    command = commands.add_parser("roofline", help="speed over operations per byte, of any programs",
                                  description="Draws all products of the files, which must come from one machine.")
    command.add_argument("file", nargs="+", help="JSON of filigree_spmv, _dof, _hybrid, _ellpack or _solver")
    command.add_argument("--out", required=True, metavar="PREFIX", help="writes PREFIX.png and PREFIX.svg")
    command.set_defaults(run=papers.roofline)
    arguments = parser.parse_args()
    try:
        for path in arguments.run(arguments):
            print(path)
    except (PlotError, OSError) as error:
        print(f"plot.py: {error}", file=sys.stderr)
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
