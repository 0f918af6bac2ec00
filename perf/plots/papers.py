# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of the programs that repeat the evaluation of the papers."""
import math
import re

from drawing import (BARS, Page, PlotError, duration, in_order, in_words, line_style, logarithmic, read_limit,
                     read_session)


def measured(entries):
    return [entry for entry in entries if not entry.refusal]


def grid_in_words(problem):
    """ "7pt_64x64x64_dof4" as "64 x 64 x 64 cells, 7 points"."""
    found = re.match(r"(\d+)pt_([\dx]+)", problem)
    return f"{found[2].replace('x', ' x ')} cells, {found[1]} points" if found else problem


def dof_of(entry):
    return int(entry["block_size"])


def limit_line(axes, x, y, label):
    axes.plot(x, y, color="#000000", linewidth=1.2, linestyle=(0, (1, 1.2)), zorder=1, label=label, gid="limit")


def legend_of(figure):
    """One handle per label of all diagrams."""
    handles = {}
    for axes in figure.axes:
        for handle, label in zip(*axes.get_legend_handles_labels()):
            handles.setdefault(label, handle)
    return list(handles.values())


# --- filigree_dof: Godwin, Holewinski and Sadayappan 2012, figures 7 and 8


def dof(arguments):
    """The subcommand dof: speed, bandwidth and storage over the unknowns per cell."""
    context, entries = read_session(arguments.file, "dof")
    entries = measured(entries)
    grids = in_order(entries, lambda entry: re.sub(r"_dof\d+$", "", entry.problem))
    scalars = in_order(entries, lambda entry: entry.scalar)
    formats = in_order(entries, lambda entry: entry.format)

    def draw(suffix, title, ylabel, value, limit, limit_label, notes=""):
        page = Page(title, [context], len(scalars), len(grids), max(3.9, 9.0 / len(grids)), 3.1, notes)
        for row, scalar in enumerate(scalars):
            for column, grid in enumerate(grids):
                axes = page.axes[row][column]
                here = [entry for entry in entries
                        if entry.scalar == scalar and re.sub(r"_dof\d+$", "", entry.problem) == grid]
                for name in formats:
                    line = sorted((entry for entry in here if entry.format == name), key=dof_of)
                    if line:
                        colour, marker, dashes = line_style(name)
                        axes.plot([dof_of(entry) for entry in line], [value(entry) for entry in line], color=colour,
                                  marker=marker, linestyle=dashes, linewidth=1.6, markersize=5.5, label=in_words(name))
                dofs = sorted(set(dof_of(entry) for entry in here))
                limit_line(axes, dofs, [limit(next(entry for entry in here if dof_of(entry) == one)) for one in dofs],
                           limit_label)
                axes.set_title(f"{grid_in_words(grid)}, {scalar}", loc="left", fontsize=10)
                axes.set_xlabel("unknowns per cell")
                axes.set_xticks(dofs)
                axes.set_ylim(0, 1.04 * axes.get_ylim()[1])
                axes.grid(axis="y", color="#dddddd", linewidth=0.6)
            page.axes[row][0].set_ylabel(ylabel)
        return page.save(legend_of(page.figure), f"{arguments.out}_{suffix}")

    def value_bytes(entry):
        return 4 if entry.scalar == "float" else 8

    def limit_of_speed(entry):
        """2 operations per entry while the values of k*b*n and both vectors are read or written once."""
        megabytes = entry["formula_MB"] + 1e-6 * (entry["rows"] + entry["columns"]) * value_bytes(entry)
        return 2e-9 * entry["entries"] / (1e-3 * megabytes / read_limit(context))

    in_cache = ("Matrices that fit into the last-level cache can exceed the limit."
                if any(entry["fits_cache"] for entry in entries) else "")
    written = draw("speed", "Speed over the unknowns per cell", "GFLOP/s", lambda entry: entry["GFLOPs"],
                   limit_of_speed, "limit: k·b·n values, x and y at the read bandwidth", in_cache)
    written += draw("bandwidth", "Bandwidth over the unknowns per cell", "GB/s of matrix, x and y",
                    lambda entry: entry["GBps"], lambda entry: read_limit(context), "limit: measured read bandwidth", in_cache)
    written += draw("storage", "Storage over the unknowns per cell", "storage / formula",
                    lambda entry: entry["storage_MB"] / entry["formula_MB"], lambda entry: 1, "limit: formula, k·b·n values and k offsets")
    return written


# --- bars in groups


def grouped_bars(axes, groups, series, value, text_size=0):
    """Vertical bars: a group per name in `groups`, in it one bar per name in `series`. value(group, name) may be None."""
    from matplotlib.patches import Patch
    step = 0.84 / len(series)
    handles = []
    for which, name in enumerate(series):
        face, hatch = BARS[name]
        for at, group in enumerate(groups):
            height = value(group, name)
            place = at - 0.42 + step * (which + 0.5)
            if height is None:
                axes.plot([place], [0], marker="x", color="#222222", markersize=3, clip_on=False, transform=axes.get_xaxis_transform())
                continue
            axes.bar(place, height, width=step, color=face, hatch=hatch, edgecolor="#222222", linewidth=0.5)
            if text_size:
                axes.text(place, height, f" {height:.3g}", rotation=90, fontsize=text_size, ha="center", va="bottom")
        handles.append(Patch(facecolor=face, hatch=hatch, edgecolor="#222222", linewidth=0.5, label=in_words(name)))
    axes.set_xlim(-0.5, len(groups) - 0.5)
    axes.set_xticks(range(len(groups)))
    return handles


def limit_marks(axes, groups, value, label):
    """A short line above each group."""
    from matplotlib.lines import Line2D
    for at, group in enumerate(groups):
        height = value(group)
        if height is not None:
            axes.plot([at - 0.45, at + 0.45], [height, height], color="#000000", linewidth=1.4, linestyle=(0, (1, 1)),
                      gid="limit")
    return Line2D([], [], color="#000000", linewidth=1.4, linestyle=(0, (1, 1)), label=label)


def find(entries, problem, name):
    return next((entry for entry in entries if entry.problem == problem and entry.format == name), None)


def crs_limit(entry, context):
    """GFLOP/s of a product that reads each value and column of the entries once, and reads x and writes y once."""
    gigabytes = 1e-9 * (12 * entry["entries"] + 8 * (entry["rows"] + entry["columns"]))
    return 2e-9 * entry["entries"] * read_limit(context) / gigabytes


LIMIT = "limit: read bandwidth"
LIMIT_NOTE = "Limit: the values and columns of the entries, x and y move once, at the measured read bandwidth."


def draw_speeds(page_title, context, entries, problems, series, prefix, tick, notes="", is_logarithmic=False):
    """GFLOP/s of the series for each problem. At most seven problems stand beside each other."""
    rows = -(-len(problems) // 7)
    columns = -(-len(problems) // rows)
    page = Page(page_title, [context], rows, 1, max(9.0, 0.15 * columns * len(series) + 1.2), 3.4, f"{LIMIT_NOTE} {notes}".strip())
    handles = []

    def speed(problem, name):
        entry = find(entries, problem, name)
        return entry["GFLOPs"] if entry else None

    def limit(problem):
        entry = next((entry for entry in entries if entry.problem == problem and "columns" in entry.figures), None)
        return crs_limit(entry, context) if entry else None
    lowest = min(entry["GFLOPs"] for entry in entries if entry.format in series)
    highest = max(max(entry["GFLOPs"] for entry in entries if entry.format in series), *(limit(one) or 0 for one in problems))
    for row in range(rows):
        axes = page.axes[row][0]
        here = problems[row * columns:(row + 1) * columns]
        if is_logarithmic:
            logarithmic(axes.yaxis, 0.5 * lowest, 1.5 * highest)
        else:
            axes.set_ylim(0, 1.05 * highest)
        handles = grouped_bars(axes, here, series, speed) + [limit_marks(axes, here, limit, LIMIT)]
        axes.set_xlim(-0.5, columns - 0.5)
        axes.set_xticklabels([tick(problem) for problem in here], fontsize=9)
        axes.set_ylabel("GFLOP/s")
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    return page.save(handles, prefix)


# --- filigree_hybrid: Liu, Yu, Chen, Hsieh and Shao 2012


def hybrid(arguments):
    """The subcommand hybrid: speeds of HEC, HYB, ELL and CRS, and time per iteration of conjugate gradients."""
    context, entries = read_session(arguments.file, "hybrid")
    entries = measured(entries)
    products = [entry for entry in entries if not entry.problem.startswith("cg_")]
    problems = in_order(products, lambda entry: entry.problem)
    series = sorted(in_order(products, lambda entry: entry.format),
                    key=lambda name: (not name.startswith("hec"), not name.startswith("hyb"), not name.startswith("ell")))

    def tick(problem):
        hec = find(products, problem, "hec")
        text = problem.replace("_", " ")
        return f"{text}\nwidth {hec['ell_width']:.0f}, beyond {100 * hec['excess_share']:.0f} %" if hec else text
    written = []
    if products:
        written += draw_speeds("HEC next to HYB, ELL and CRS", context, products, problems, series, f"{arguments.out}_speed", tick,
                               "Below each matrix: width of the ELL part of HEC, and the share of the entries beyond it. "
                               "x: the format refuses the matrix.")
    solved = [entry for entry in entries if entry.problem.startswith("cg_")]
    if solved:
        written += draw_iterations(context, solved, f"{arguments.out}_cg")
    return written


def two_columns(title, context, entries, problems, notes):
    """A page with a diagram of horizontal bars for each problem, at most two beside each other, and its diagrams."""
    columns = min(2, len(problems))
    rows = -(-len(problems) // columns)
    most = max(sum(entry.problem == one for entry in entries) for one in problems)
    page = Page(title, [context], rows, columns, 7.5, 0.9 + 0.3 * most, notes)
    places = list(page.axes.flat)
    for empty in places[len(problems):]:
        empty.set_visible(False)
    return page, places


def draw_iterations(context, entries, prefix):
    """Time per iteration, and the part of it that is the product."""
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    problems = in_order(entries, lambda entry: entry.problem)
    page, places = two_columns("Time per iteration of conjugate gradients", context, entries, problems,
                               "Conjugate gradients with the diagonal as preconditioner, in double precision. Limit: the CRS matrix, x "
                               "and y move once, at the measured read bandwidth. Products of small matrices are timed one after the "
                               "other, which hides the time of the host to start them; in the solver it is part of the rest.")
    for axes, problem in zip(places, problems):
        here = sorted((entry for entry in entries if entry.problem == problem), key=lambda entry: entry["iteration_ms"])
        for row, entry in enumerate(here):
            axes.barh(row, entry["iteration_ms"], color="#c5d6ea", edgecolor="#222222", linewidth=0.6, height=0.7)
            axes.barh(row, entry["median_ms"], color="#0b2a5b", edgecolor="#222222", linewidth=0.6, height=0.7)
            words = "iterations" if entry["converged"] else "iterations, not converged"
            axes.annotate(f"{duration(entry['iteration_ms'])}, {entry['iterations']:.0f} {words}",
                          (entry["iteration_ms"], row), xytext=(5, 0), textcoords="offset points", va="center", fontsize=8.5,
                          bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})
        reference = find(here, problem, "kokkos_kernels")
        if reference:
            bytes_of_product = reference["storage_MB"] + 8e-6 * (reference["rows"] + reference["columns"])
            axes.axvline(bytes_of_product / read_limit(context), color="#000000", linewidth=1.3, linestyle=(0, (1, 1)),
                         gid="limit")
        axes.set_yticks(range(len(here)), [in_words(entry.format) for entry in here])
        axes.set_ylim(len(here) - 0.5, -0.5)
        axes.set_xlim(0, 1.45 * here[-1]["iteration_ms"])
        axes.set_xlabel("ms per iteration")
        axes.set_title(problem.replace("cg_", "").replace("_", " "), loc="left", fontsize=10)
    return page.save([Patch(facecolor="#0b2a5b", label="product"), Patch(facecolor="#c5d6ea", label="rest: vectors, dot products"),
                      Line2D([], [], color="#000000", linewidth=1.3, linestyle=(0, (1, 1)), label="limit of a product with CRS")],
                     prefix)


# --- filigree_ellpack: Vazquez, Fernandez and Garzon 2011


def ellpack(arguments):
    """The subcommand ellpack: the paper's figures 3 (cost of the model), 4 (launches), 5 (kernels) and 6 (one core), and its
    tables 2 (models) and 3 (bandwidth)."""
    context, entries = read_session(arguments.file, "ellpack")
    missing = [entry.problem for entry in entries if entry.refusal and entry.format == "all"]
    entries = measured(entries)
    launches = [entry for entry in entries if entry.format.startswith("launch_")]
    entries = [entry for entry in entries if not entry.format.startswith("launch_")]
    problems = in_order(entries, lambda entry: entry.problem)
    notes = "Small matrices are in the cache, and starting their products takes most of the time. x: the format refuses the matrix."
    if missing:
        notes += f" Not measured: {', '.join(missing)}."

    def draw(title, suffix, names):
        series = [name for name in names if any(entry.format == name for entry in entries)]
        return draw_speeds(title, context, entries, problems, series, f"{arguments.out}_{suffix}", str, notes,
                           is_logarithmic=True) if series else []
    written = draw("Kernels for the matrices of Vazquez, Fernandez and Garzon 2011", "kernels",
                   ("crs_lanes1", "crs_lanes32", "crs_lanes16", "ellpack", "ell", "ellr_t_half_warps", "ellr_t_sectors", "hyb",
                    "cusparse_csr_alg1", "cusparse_sell", "kokkos_kernels"))
    notes += " The fastest and the slowest launch are those with cold caches; here a matrix that fits stays in the cache."
    written += draw("ELLR-T with the fastest launch, those of the models, and the slowest", "configurations",
                    ("ellr_t_best", "ellr_t_sectors", "ellr_t_half_warps", "ellr_t_worst"))
    if launches:
        written += draw_surfaces(context, launches, f"{arguments.out}_launches")
        written += draw_matching(context, launches, f"{arguments.out}_models")
        written += draw_effective(context, launches, f"{arguments.out}_bandwidth")
    if any(entry.format == "one_host_core" for entry in entries):
        written += draw_one_core(context, entries, problems, f"{arguments.out}_one_core")
    return written


def best_of(launches, problem):
    return min((entry for entry in launches if entry.problem == problem), key=lambda entry: entry["median_ms"])


def picked_of(launches, problem, model):
    return next((entry for entry in launches if entry.problem == problem and entry[f"picked_{model}"]), None)


def draw_surfaces(context, launches, prefix):
    """For up to four matrices: the time of each launch, and its cost by both models, relative to the smallest."""
    problems = in_order(launches, lambda entry: entry.problem)
    preferred = [name for name in ("rma10", "pdb1HYS", "mac_econ", "gemat12", "dense2", "qcd5_4", "mc2depi", "bcsstk24")
                 if name in problems]
    chosen = (preferred + [name for name in problems if name not in preferred])[:4]
    surfaces = (("median_ms", "measured time"), ("cost_half_warps", "cost by the paper's model"),
                ("cost_sectors", "cost by our model"))
    page = Page("Launches of ELLR-T: time and costs relative to the smallest", [context], len(surfaces), len(chosen), 3.9, 3.1,
                "T lanes multiply a row, teams have BS lanes. Frames: fastest launch (solid), pick of the paper's model "
                "(dashed), pick of our model (dotted). The limit is 1.")
    from matplotlib.patches import Rectangle
    for row_of_axes, (figure, words) in zip(page.axes, surfaces):
        for axes, problem in zip(row_of_axes, chosen):
            here = [entry for entry in launches if entry.problem == problem]
            lanes = sorted(set(int(entry["lanes_per_row"]) for entry in here))
            teams = sorted(set(int(entry["lanes_per_team"]) for entry in here))

            def place(entry):
                return teams.index(int(entry["lanes_per_team"])), lanes.index(int(entry["lanes_per_row"]))
            smallest = min(entry[figure] for entry in here)
            highest = max(2.0, max(entry[figure] for entry in here) / smallest)
            shown = [[float("nan")] * len(teams) for _ in lanes]
            for entry in here:
                column, row = place(entry)
                ratio = shown[row][column] = entry[figure] / smallest
                axes.text(column, row, f"{ratio:.2f}" if ratio < 100 else f"{ratio:.0f}", ha="center", va="center", fontsize=8,
                          color="#ffffff" if ratio > 1 + 0.6 * (highest - 1) else "#000000")
            axes.imshow(shown, cmap="Greys", vmin=1, vmax=highest, aspect="auto", origin="lower")
            best = best_of(launches, problem)
            for entry, style, inset in ((best, "-", 0.0), (picked_of(here, problem, "half_warps"), "--", 0.07),
                                        (picked_of(here, problem, "sectors"), ":", 0.14)):
                column, row = place(entry)
                axes.add_patch(Rectangle((column - 0.5 + inset, row - 0.5 + inset), 1 - 2 * inset, 1 - 2 * inset, fill=False,
                                         edgecolor="#b03a2e", linewidth=1.8, linestyle=style, clip_on=False, zorder=5))
            axes.set_xticks(range(len(teams)), teams)
            axes.set_yticks(range(len(lanes)), lanes)
            least = f"{words}, {duration(best['median_ms'])} = 1" if figure == "median_ms" else words
            axes.set_title(f"{problem}: {least}", loc="left", fontsize=9)
        row_of_axes[0].set_ylabel("T, lanes per row")
    for axes in page.axes[-1]:
        axes.set_xlabel("BS, lanes per team")
    return page.save([], prefix)


def draw_matching(context, launches, prefix):
    """The matching percentage of each model per matrix: speed of its pick relative to the fastest launch."""
    problems = in_order(launches, lambda entry: entry.problem)
    models = ("half_warps", "sectors")

    def percentage(problem, model):
        picked = picked_of(launches, problem, model)
        return 100 * best_of(launches, problem)["median_ms"] / picked["median_ms"] if picked else None
    means = {model: sum(percentage(problem, model) for problem in problems) / len(problems) for model in models}
    page = Page("Speed of the models' launches relative to the fastest launch", [context], 1, 1,
                max(7.5, 0.5 * len(problems) + 1.5), 3.4,
                f"Mean: paper's model {means['half_warps']:.1f} %, our model {means['sectors']:.1f} %. The limit is 100 %.")
    axes = page.axes[0][0]
    handles = grouped_bars(axes, problems, [f"ellr_t_{model}" for model in models], lambda problem, name: percentage(problem, name[7:]))
    axes.axhline(100, color="#000000", linewidth=1.2, linestyle=(0, (1, 1.2)), gid="limit")
    axes.set_xticklabels(problems, rotation=30, ha="right", fontsize=9)
    axes.set_ylabel("% of the fastest launch")
    axes.set_ylim(0, 108)
    return page.save(handles, prefix)


def draw_effective(context, launches, prefix):
    """Table 3: the bandwidth of the fastest launch without padding, with cold caches."""
    problems = in_order(launches, lambda entry: entry.problem)
    page = Page("Effective bandwidth of ELLR-T with cold caches", [context], 1, 1, max(7.5, 0.4 * len(problems) + 1.5), 3.4,
                "Bytes of the entries without padding, row lengths, x and y, divided by the time of the fastest launch.")
    axes = page.axes[0][0]
    for at, problem in enumerate(problems):
        value = best_of(launches, problem)["effective_GBps"]
        axes.bar(at, value, width=0.7, color="#5b86bd", edgecolor="#222222", linewidth=0.6)
        axes.text(at, value, f"{value:.0f}" if value >= 100 else f"{value:.3g}", ha="center", va="bottom", fontsize=8)
    limit = read_limit(context)
    axes.axhline(limit, color="#000000", linewidth=1.2, linestyle=(0, (1, 1.2)), gid="limit",
                 label=f"limit: measured read bandwidth, {limit:.0f} GB/s")
    axes.set_xticks(range(len(problems)), problems, rotation=30, ha="right", fontsize=9)
    axes.set_ylabel("GB/s")
    axes.set_ylim(0, 1.1 * max(limit, max(best_of(launches, problem)["effective_GBps"] for problem in problems)))
    return page.save(legend_of(page.figure), prefix)


def draw_one_core(context, entries, problems, prefix):
    """Figure 6: the speed of ELLR-T relative to one core of the host."""
    shown = [problem for problem in problems if find(entries, problem, "one_host_core") and find(entries, problem, "ellr_t_best")]
    page = Page("Speed relative to Kokkos Kernels' CRS on one core of the host", [context], 1, 1,
                max(7.5, 0.5 * len(shown) + 1.5), 3.6,
                f"Processor of the core: {context.get('host_processor', 'the host')}. The limit of a matrix is the ratio for a product at the "
                "read bandwidth of the device. Small matrices are in the cache of the core, and a GPU takes most of the time to "
                "start their products.")
    axes = page.axes[0][0]

    def ratio(problem, name):
        entry = find(entries, problem, name)
        return find(entries, problem, "one_host_core")["median_ms"] / entry["median_ms"] if entry else None
    logarithmic(axes.yaxis)
    series = [name for name in ("ellr_t_half_warps", "ellr_t_best", "cusparse_csr_alg1", "kokkos_kernels")
              if any(entry.format == name for entry in entries)]
    handles = grouped_bars(axes, shown, series, ratio)

    def limit(problem):
        reference = find(entries, problem, "kokkos_kernels")
        host = find(entries, problem, "one_host_core")
        return crs_limit(reference, context) / host["GFLOPs"] if reference else None
    handles.append(limit_marks(axes, shown, limit, "limit"))
    axes.set_xticklabels(shown, rotation=30, ha="right", fontsize=9)
    axes.set_ylabel("times as fast as one core")
    axes.axhline(1, color="#222222", linewidth=0.8)
    axes.grid(axis="y", color="#dddddd", linewidth=0.6)
    axes.set_axisbelow(True)
    return page.save(handles, prefix)


# --- filigree_solver: Kirk and Hwu, chapter 10


def solver(arguments):
    """The subcommand solver: time to solution, and the iterations after which the conversion has paid off."""
    context, entries = read_session(arguments.file, "solver")
    entries = measured(entries)
    written = draw_iterations(context, entries, f"{arguments.out}_iteration")
    # Runs that did not converge have no time to solution.
    solved = [entry for entry in entries if entry["converged"] and entry.format != "kokkos_kernels"]
    problems = in_order(solved, lambda entry: entry.problem)
    if not problems:
        return written
    page, places = two_columns("Time to solution, conversion included, and when the conversion has paid off", context, solved, problems,
                               "Relative to conjugate gradients with Kokkos Kernels' CRS (1 = dashed line, higher is better). Limit "
                               "(dotted line): all but the product takes as long as with the format in which it is shortest, and the "
                               "product takes no time. Times of small matrices differ from run to run, and can exceed it.")
    for axes, problem in zip(places, problems):
        here = sorted((entry for entry in solved if entry.problem == problem and entry.format != "kokkos_kernels"),
                      key=lambda entry: -entry["solution_speedup_vs_kokkos_kernels"])
        labels = []
        for row, entry in enumerate(here):
            speed_up = entry["solution_speedup_vs_kokkos_kernels"]
            axes.barh(row, speed_up, color="#5b86bd" if speed_up > 1 else "#d0d0d0", edgecolor="#222222", linewidth=0.6,
                      height=0.7)
            pays = entry["pays_after_iterations"]
            words = "never pays" if pays < 0 else f"pays after {math.ceil(pays)} iteration{'s' if pays > 1 else ''}"
            labels.append((row, f"{speed_up:.2f}, {words}"))
        reference = find(entries, problem, "kokkos_kernels")
        axes.axvline(1, color="#222222", linewidth=1, linestyle=(0, (4, 3)), zorder=0)
        rest = min(entry["iteration_ms"] - entry["median_ms"] for entry in here)
        limit = 0
        if reference and rest > 0:
            limit = reference["iteration_ms"] / rest
            axes.axvline(limit, color="#000000", linewidth=1.3, linestyle=(0, (1, 1)), zorder=0, gid="limit")
        axes.set_yticks(range(len(here)), [in_words(entry.format) for entry in here])
        axes.set_ylim(len(here) - 0.5, -0.5)
        # The labels stand to the right of all bars and of the limit.
        right = 1.03 * max([1.0, limit] + [entry["solution_speedup_vs_kokkos_kernels"] for entry in here])
        for row, words in labels:
            axes.annotate(words, (right, row), va="center", fontsize=8.5)
        axes.set_xlim(0, 1.55 * right)
        axes.set_xlabel("speed of the solution relative to Kokkos Kernels' CRS")
        axes.set_title(f"{problem.replace('_', ' ')}, {reference['iterations']:.0f} iterations" if reference else problem,
                       loc="left", fontsize=10)
    return written + page.save([], f"{arguments.out}_solution")


# --- filigree_select: the byte model


def prediction(arguments):
    """The subcommand prediction: predicted over measured times of all formats and matrices."""
    context, entries = read_session(arguments.file, "select")
    # A device without a model has no predictions.
    entries = [entry for entry in measured(entries) if math.isfinite(float(entry["predicted_ms"]))]
    if not entries:
        raise PlotError(f"{arguments.file} has no predictions")
    page = Page("Predicted and measured time of a product", [context], 1, 1, 7.5, 6.0,
                "One mark per matrix and format, with cold caches. On the dotted line, the limit, a prediction is exact; the grey "
                "band is 25 % above and below it.")
    axes = page.axes[0][0]
    times = [entry[key] for entry in entries for key in ("median_ms", "predicted_ms")]
    ends = [0.7 * min(times), 1.4 * max(times)]
    axes.fill_between(ends, [0.75 * end for end in ends], [1.25 * end for end in ends], color="#dddddd", linewidth=0)
    limit_line(axes, ends, ends, "exact")
    for picked, style in ((0, {"color": "#5b86bd", "marker": "o", "s": 14, "label": "other formats"}),
                          (1, {"color": "#c0392b", "marker": "x", "s": 34, "label": "format that optimize() picks"})):
        here = [entry for entry in entries if entry["picked"] == picked]
        axes.scatter([entry["median_ms"] for entry in here], [entry["predicted_ms"] for entry in here], zorder=3 + picked,
                     linewidths=1.1, **style)
    logarithmic(axes.xaxis, *ends)
    logarithmic(axes.yaxis, *ends)
    axes.set_xlabel("measured ms")
    axes.set_ylabel("predicted ms")
    return page.save(legend_of(page.figure), arguments.out)


# --- filigree_distributed: products over MPI ranks


DISTRIBUTED = {"tpetra": ("#222222", "x", "--", "Tpetra"), "cds": ("#0b2a5b", "o", "-", "CDS"),
               "auto": ("#b5651d", "^", "-", "optimize's pick")}


def problem_of(entry):
    """The words in the name of a problem, such as strong, 64x64x64, dof4, blocks and ranks4."""
    return entry.problem.split("_")


def distributed(arguments):
    """The subcommand distributed: scaling, model against measurement, and the model for many GPUs."""
    contexts, entries = [], []
    for path in arguments.file:
        context, here = read_session(path, "distributed")
        contexts.append(context)
        entries += measured(here)
    if len({context["device"] for context in contexts}) > 1:
        raise PlotError("the files were measured on different machines")
    written = draw_scaling(contexts, entries, f"{arguments.out}_scaling")
    written += draw_distributed_model(contexts, entries, f"{arguments.out}_model")
    return written + draw_gpus(entries, f"{arguments.out}_gpus")


def draw_scaling(contexts, entries, prefix):
    """Time per product over the ranks, of one grid and of a grid that grows with the ranks."""
    page = Page("Products over MPI ranks", contexts, 1, 2, 5.2, 4.0,
                "Left: all ranks share one grid. Right: each rank has equally many cells. Each time is that of the slowest rank. The parts are blocks.")
    for axes, scaling in zip(page.axes[0], ("strong", "weak")):
        here = [entry for entry in entries if problem_of(entry)[0] == scaling and "blocks" in problem_of(entry) and
                entry.format in ("cds", "auto")]
        if not here:
            raise PlotError(f"the files have no {scaling} scaling; write them with filigree_distributed --out=FILE")
        ranks = sorted({entry["ranks"] for entry in here})
        cds = {entry["ranks"]: entry for entry in here if entry.format == "cds"}
        for name, (colour, marker, line, words) in DISTRIBUTED.items():
            if name == "tpetra":
                times = {rank: entry["tpetra_ms"] for rank, entry in cds.items()}
            else:
                times = {entry["ranks"]: entry["median_ms"] for entry in here if entry.format == name}
            axes.plot(sorted(times), [times[rank] for rank in sorted(times)], color=colour, marker=marker, linestyle=line,
                      markersize=5, label=words)
        if scaling == "strong" and 1 in cds:
            limit_line(axes, ranks, [cds[1]["median_ms"] / rank for rank in ranks], "CDS on one rank, divided by the ranks")
        logarithmic(axes.yaxis)
        axes.set_xscale("log", base=2)
        axes.set_xticks(ranks, [f"{rank:.0f}" for rank in ranks])
        axes.set_xlabel("MPI ranks, one core each")
        axes.set_ylabel("ms per product")
        cells = f"{problem_of(min(here, key=lambda one: one['ranks']))[1]} cells" + (" per rank" if scaling == "weak" else "")
        axes.set_title(f"{'one grid' if scaling == 'strong' else 'a growing grid'}: {cells}", loc="left", fontsize=10)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    return page.save(legend_of(page.figure), prefix)


def draw_distributed_model(contexts, entries, prefix):
    """Measured times, and the times that the model predicts, of products and their steps."""
    here = [entry for entry in entries if "model_ms" in entry.figures and entry.format == "cds"]
    page = Page("Model and measurement of products with CDS over MPI ranks", contexts, 1, 1, 7.5, 5.5,
                "The prediction of a product is that nothing hides the exchange. The bandwidth of the products, the time per message "
                "and the speed of the network were measured in the same run, with a grid of another shape and with messages around a "
                "ring. Steps and products were repeated alone. The grey band is 25 % above and below the dotted line, on which a "
                "prediction is exact.")
    axes = page.axes[0][0]
    steps = (("apply_ms", "model_ms", "product", "#0b2a5b", "o"), ("exchange_ms", "model_exchange_ms", "exchange", "#b5651d", "^"),
             ("remote_ms", "model_remote_ms", "remote columns", "#2e7d4f", "s"))
    times = [entry[key] for entry in here for step in steps for key in step[:2] if entry[key] > 0]
    ends = [0.7 * min(times), 1.4 * max(times)]
    axes.fill_between(ends, [0.75 * end for end in ends], [1.25 * end for end in ends], color="#dddddd", linewidth=0)
    limit_line(axes, ends, ends, "exact")
    for measured_key, model_key, words, colour, marker in steps:
        for cut, face in (("blocks", colour), ("slabs", "white")):
            shown = [entry for entry in here if cut in problem_of(entry) and entry[measured_key] > 0]
            if shown:
                axes.plot([entry[measured_key] for entry in shown], [entry[model_key] for entry in shown], color=colour,
                          markerfacecolor=face, marker=marker, linestyle="none", markersize=5.5, label=f"{words}, {cut}")
    logarithmic(axes.xaxis, *ends)
    logarithmic(axes.yaxis, *ends)
    axes.set_xlabel("measured ms")
    axes.set_ylabel("predicted ms")
    return page.save(legend_of(page.figure), prefix)


def draw_gpus(entries, prefix):
    """The model for many GPUs."""
    here = [entry for entry in entries if entry.format == "model"]
    # Each run predicts the same.
    here = list({entry.problem: entry for entry in here}.values())
    page = Page("Predicted products with CDS on many GPUs, 7-point grids with 4 unknowns per cell", [], 1, 2, 5.2, 4.0,
                "A prediction, not a measurement. The band goes from an exchange that the product of the owned columns hides to one that "
                "it does not hide. docs/distributed_model.md says which speeds are assumed.")
    for axes, scaling in zip(page.axes[0], ("strong", "weak")):
        curve = sorted((entry for entry in here if problem_of(entry)[0] == scaling), key=lambda entry: entry["ranks"])
        gpus = [entry["ranks"] for entry in curve]
        axes.fill_between(gpus, [entry["model_overlapped_ms"] for entry in curve], [entry["model_ms"] for entry in curve],
                          color="#9fb7d6", linewidth=0, label="product, with to without overlap")
        axes.plot(gpus, [entry["model_owned_ms"] for entry in curve], color="#0b2a5b", linewidth=1.4, label="owned columns")
        several = [entry for entry in curve if entry["ranks"] > 1]
        for step, style in (("exchange", {"color": "#b5651d", "linestyle": "--", "label": "exchange"}),
                            ("remote", {"color": "#2e7d4f", "linestyle": ":", "label": "remote columns"})):
            axes.plot([entry["ranks"] for entry in several], [entry[f"model_{step}_ms"] for entry in several], **style)
        axes.set_xscale("log", base=2)
        axes.set_xticks(gpus[::2], [f"{gpu:.0f}" for gpu in gpus[::2]], fontsize=8)
        logarithmic(axes.yaxis)
        axes.set_xlabel("GPUs")
        axes.set_ylabel("ms per product")
        axes.set_title("one grid of 1024^3 cells" if scaling == "strong" else "200^3 cells per GPU", loc="left", fontsize=10)
        axes.grid(axis="y", color="#dddddd", linewidth=0.6)
        axes.set_axisbelow(True)
    return page.save(legend_of(page.figure), prefix)


# --- files of any program

# Formats with the same prefix are one family in the roofline. Others are drawn under their own names.
FAMILIES = (("crs", "CRS"), ("coo", "COO"), ("ell", "ELLPACK, ELLPACK-R, ELLR-T"), ("sell", "SELL"), ("hyb", "HYB"), ("hec", "HEC"),
            ("jds", "JDS"), ("dia", "DIA"), ("cds", "CDS"), ("bsr", "BSR, blocked ELL"), ("bell", "BSR, blocked ELL"),
            ("kokkos_kernels", "Kokkos Kernels"), ("cusparse", "cuSPARSE"))
ROOFLINE_STYLES = {
    "CRS": ("#777777", "+"), "COO": ("#d16ba5", "1"), "ELLPACK, ELLPACK-R, ELLR-T": ("#2e7d4f", "^"), "SELL": ("#8cc084", "v"),
    "HYB": ("#5b2a86", "<"), "HEC": ("#4aa3a2", ">"), "JDS": ("#8a6d3b", "2"), "DIA": ("#7a9cc6", "s"), "CDS": ("#0b2a5b", "o"),
    "BSR, blocked ELL": ("#b5651d", "D"), "Kokkos Kernels": ("#222222", "x"), "cuSPARSE": ("#c0392b", "*")}


def family(entry):
    return next((words for prefix, words in FAMILIES if entry.format.startswith(prefix)), None)


def roofline(arguments):
    """The subcommand roofline: GFLOP/s over operations per byte, below the line that the read bandwidth sets."""
    contexts, points = [], []
    for path in arguments.file:
        context, entries = read_session(path)
        contexts.append(context)
        points += [entry for entry in measured(entries) if "GBps" in entry.figures and "GFLOPs" in entry.figures]
    if not points:
        raise PlotError(f"{', '.join(arguments.file)}: there are no products with GFLOPs and GBps; draw files of filigree_spmv, _dof, "
                        "_hybrid, _ellpack or _solver")
    devices = {(context["device"], context["host_threads"]) for context in contexts}
    if len(devices) > 1:
        raise PlotError(f"the files were measured on different machines: {sorted(devices)}; draw one roofline per machine")
    # optimize's pick is one of the other formats.
    points = [entry for entry in points if family(entry)]
    in_memory = [entry for entry in points if not entry["fits_cache"]]
    notes = "Operations per byte: 2 per entry (8 if complex), divided by the bytes of the matrix, x and y. "
    if in_memory:
        points = in_memory
        notes += ("Matrices that fit into the last-level cache are left out. Products above the line find many of their bytes in it, "
                  "or do not read all of their padding.")
    else:
        notes += "All matrices fit into the last-level cache, so that points can be above the line."
    bandwidth = max(read_limit(context) for context in contexts)
    page = Page("Roofline of the products", contexts[:1], 1, 1, 9.0, 5.0, notes)
    axes = page.axes[0][0]
    for name, (colour, marker) in ROOFLINE_STYLES.items():
        here = [entry for entry in points if family(entry) == name]
        if here:
            axes.scatter([entry["GFLOPs"] / entry["GBps"] for entry in here], [entry["GFLOPs"] for entry in here], color=colour,
                         marker=marker, s=22, linewidths=1.0, label=name, zorder=3)
    intensities = [entry["GFLOPs"] / entry["GBps"] for entry in points]
    ends = [0.85 * min(intensities), 1.15 * max(intensities)]
    limit_line(axes, ends, [bandwidth * end for end in ends], f"limit: read bandwidth, {bandwidth:.0f} GB/s")
    speeds = [entry["GFLOPs"] for entry in points]
    logarithmic(axes.xaxis, *ends)
    logarithmic(axes.yaxis, 0.8 * min(speeds), 1.3 * max(speeds))
    axes.set_xlabel("operations per byte")
    axes.set_ylabel("GFLOP/s")
    axes.grid(which="both", color="#e5e5e5", linewidth=0.5)
    axes.set_axisbelow(True)
    return page.save(legend_of(page.figure), arguments.out)
