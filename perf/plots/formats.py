# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Figures of filigree_spmv: the speed of each format relative to Kokkos Kernels' CRS."""
import pathlib
import textwrap
from dataclasses import dataclass, field

from drawing import PlotError, caption, count, duration, load_matplotlib, positive, read_json, read_limit, save

REFERENCE = "kokkos_kernels"


@dataclass
class Bar:
    """A format that was measured."""
    name: str
    speed_up: float  # over Kokkos Kernels' CRS
    lower_quartile: float
    upper_quartile: float
    milliseconds: float

    @property
    def is_peer(self):
        return self.name.startswith(("cusparse_", REFERENCE + "_"))


@dataclass
class Run:
    """What one JSON file of filigree_spmv says."""
    context: dict
    noise: float
    limit: float = 0.0  # speed-up of a product that moves the values of the entries, x and y at the read bandwidth
    bars: list = field(default_factory=list)     # the fastest first
    refused: list = field(default_factory=list)  # names
    label: str = ""   # the name of the file in words
    picked: str = ""  # the format that optimize() picked, if it was measured

    def fastest(self, belongs):
        """The fastest bar whose name belongs, or None."""
        return next((bar for bar in self.bars if belongs(bar.name)), None)


def least_ms(context):
    """Milliseconds to move the values of the entries, x and y at the measured read bandwidth."""
    value_bytes = {"float": 4, "double": 8, "complex_float": 8, "complex_double": 16}[context["scalar"]]
    return 1e-6 * value_bytes * sum(int(context[key]) for key in ("entries", "rows", "columns")) / read_limit(context)


def read_run(path):
    """Reads a file that filigree_spmv wrote with --benchmark_out=FILE."""
    how = "write it with filigree_spmv --benchmark_out=FILE --benchmark_out_format=json"
    context, benchmarks = read_json(path, how, ("problem", "scalar", "rows", "columns", "entries"))
    run = Run(context, 0.0, label=pathlib.Path(path).stem.replace("_", " "))
    bars = {}
    for one in benchmarks:
        parts = one["name"].split("/")
        if one.get("run_type") == "aggregate" or parts[0] != "spmv" or len(parts) < 4:
            continue
        if one.get("error_occurred") or one.get("skipped"):
            run.refused.append(parts[1])
            continue
        try:
            bars[parts[1]] = Bar(parts[1], positive(path, f"the speed of {parts[1]}", one["speedup_vs_kokkos_kernels"]),
                                 one["speedup_lower_quartile"], one["speedup_upper_quartile"],
                                 positive(path, f"the time of {parts[1]}", one["median_ms"]))
            run.noise = one["noise"]
            if parts[1] == REFERENCE:
                run.limit = one["median_ms"] / least_ms(context)
            run.picked = one.get("label", run.picked)
        except KeyError as error:
            raise PlotError(f"{path} has no {error.args[0]} of {parts[1]}; {how}") from error
    if not bars:
        raise PlotError(f"{path} has no times of products; {how}")
    run.bars = sorted(bars.values(), key=lambda bar: -bar.speed_up)
    return run


def title(run):
    context = run.context
    return (f"{context['problem']}, {context['scalar']}\n"
            f"{count(context['rows'])} rows, {count(context['entries'])} entries")


# Face colour and hatch of a bar.
STYLES = {"faster": ("#1f4e8c", ""), "not faster": ("#a9bdd4", ""), "Kokkos Kernels' CRS": ("#ffffff", ""),
          "other library": ("#f2c879", "///")}


def style(run, bar):
    """The name of the style of a bar. A format is faster if its gain is more than the noise."""
    if bar.name == REFERENCE:
        return "Kokkos Kernels' CRS"
    if bar.is_peer:
        return "other library"
    return "faster" if bar.speed_up > 1 + run.noise else "not faster"


def draw_bars(axes, run):
    """Horizontal bars, the fastest at the top. Refused formats follow without a bar."""
    from matplotlib.transforms import blended_transform_factory
    beside = blended_transform_factory(axes.transAxes, axes.transData)
    for row, bar in enumerate(run.bars):
        face, hatch = STYLES[style(run, bar)]
        axes.barh(row, bar.speed_up, color=face, hatch=hatch, edgecolor="#222222", linewidth=0.7, height=0.72)
        axes.plot([bar.lower_quartile, bar.upper_quartile], [row, row], color="#222222", linewidth=3, zorder=3,
                  solid_capstyle="butt")
        axes.plot([bar.lower_quartile, bar.upper_quartile], [row, row], color="#ffffff", linewidth=1.4, zorder=4,
                  solid_capstyle="butt")
        # Places in points, so that they do not depend on the width of the diagram.
        for text, right, style_of in ((f"{bar.speed_up:.2f}", 30, {"fontweight": "bold"}),
                                      (duration(bar.milliseconds), 82, {"color": "#444444"})):
            axes.annotate(text, (1, row), xycoords=beside, xytext=(right, 0), textcoords="offset points", va="center", ha="right",
                          fontsize=9, annotation_clip=False, **style_of)
    for row in range(len(run.bars), len(run.bars) + len(run.refused)):
        axes.text(1.02, row, "refused", transform=beside, va="center", fontsize=9, color="#555555", style="italic")
    names = [bar.name for bar in run.bars] + run.refused
    axes.set_yticks(range(len(names)), names)
    axes.tick_params(axis="y", length=0)
    axes.set_ylim(len(names) - 0.5, -0.5)
    axes.axvline(run.limit, color="#000000", linewidth=1.3, linestyle=(0, (1, 1)), zorder=0, gid="limit")
    axes.set_xlim(0, 1.03 * max([1 + run.noise, run.limit] + [max(bar.speed_up, bar.upper_quartile) for bar in run.bars]))
    axes.axvspan(1 - run.noise, 1 + run.noise, color="#bbbbbb", alpha=0.5, zorder=0, linewidth=0)
    axes.axvline(1, color="#222222", linewidth=1, linestyle=(0, (4, 3)), zorder=0)
    axes.set_title(title(run), loc="left", fontsize=10.5)
    axes.set_xlabel("speed relative to Kokkos Kernels' CRS (1 = as fast, higher is better)")


def bars(arguments):
    """The subcommand bars: returns the paths that it wrote."""
    runs = [read_run(path) for path in arguments.file]
    plt = load_matplotlib()
    from matplotlib.lines import Line2D
    from matplotlib.patches import Patch
    columns = min(len(runs), 2)
    rows = (len(runs) + columns - 1) // columns
    most = max(len(run.bars) + len(run.refused) for run in runs)
    captions = ["Limit: the values of the entries, x and y move at the measured read bandwidth. A matrix in the cache can exceed it."]
    captions += dict.fromkeys(caption(run.context) for run in runs)
    text = "\n".join(textwrap.fill(line, 92 * columns) for line in captions)
    # Heights in inches: the title, the diagrams, the legend, in two rows if it is narrow, and the caption.
    above, below = 0.3, 0.55 + 0.18 * (2 - columns) + 0.18 * text.count("\n")
    height = above + rows * (0.29 * most + 1.25) + below
    figure, axes = plt.subplots(rows, columns, figsize=(6.6 * columns, height), squeeze=False)
    for place, run in zip(axes.flat, runs):
        draw_bars(place, run)
    for place in axes.flat[len(runs):]:
        place.set_visible(False)
    figure.tight_layout(rect=(0, below / height, 1, 1 - above / height), w_pad=2.5)
    noise = ", ".join(dict.fromkeys(f"{100 * run.noise:.1f} %" for run in runs))
    used = {style(run, bar) for run in runs for bar in run.bars}
    legend = [Patch(facecolor=face, hatch=hatch, edgecolor="#222222", linewidth=0.7, label=name)
              for name, (face, hatch) in STYLES.items() if name in used]
    legend += [
        Line2D([], [], color="#222222", linewidth=3, label="quartiles"),
        Patch(facecolor="#bbbbbb", alpha=0.5, label=f"noise ({noise})"),
        Line2D([], [], color="#000000", linewidth=1.3, linestyle=(0, (1, 1)), label="limit")]
    figure.legend(handles=legend, loc="upper left", ncol=-(-len(legend) // (3 - columns)), frameon=False, fontsize=8.5,
                  columnspacing=1.2, handletextpad=0.5, bbox_to_anchor=(0, below / height))
    figure.text(0.01, 0.07 / height, text, fontsize=8.5, color="#444444", va="bottom")
    figure.text(0.01, 1 - 0.1 / height, arguments.title, fontsize=12, fontweight="bold", va="top")
    return save(figure, arguments.out)


# Whose products the overview compares. The classes crs and bsr and their kernels are those of Kokkos Kernels.
def of_cusparse(name):
    return name.startswith("cusparse_")


def of_kokkos_kernels(name):
    return name in ("crs", "bsr") or name.startswith(REFERENCE)


def of_filigree(name):
    return name != "auto" and not of_cusparse(name) and not of_kokkos_kernels(name)


def machine(run):
    """One core, several or a GPU: the title of a column."""
    context = run.context
    if context["backend"] in ("Cuda", "HIP"):
        return context["device"]
    threads = int(context["host_threads"])
    return f"{context['device']}, " + ("one thread" if threads == 1 else f"{threads} threads")


def grid_of_runs(paths):
    """(machines, labels, runs): runs[machine, label]. The matrices that gain most on the last machine come first."""
    runs = {}
    for path in paths:
        run = read_run(path)
        if (machine(run), run.label) in runs:
            raise PlotError(f"{path} measures {run.label} on {machine(run)} a second time")
        if not run.fastest(of_filigree):
            raise PlotError(f"{path} has no time of a format of Filigree")
        runs[machine(run), run.label] = run
    machines = list(dict.fromkeys(name for name, _ in runs))
    labels = list(dict.fromkeys(label for _, label in runs))
    flags = {}
    for (_, label), run in runs.items():
        if flags.setdefault(label, run.context.get("flags")) != run.context.get("flags"):
            raise PlotError(f"the files of {label} have different flags: {flags[label]}, {run.context.get('flags')}")

    def gain(label):
        run = runs.get((machines[-1], label))
        return run.fastest(of_filigree).speed_up if run else 0.0
    return machines, sorted(labels, key=lambda label: -gain(label)), runs


def overview(arguments):
    """The subcommand overview: returns the paths that it wrote."""
    machines, labels, runs = grid_of_runs(arguments.file)
    plt = load_matplotlib()
    from matplotlib.patches import Patch
    kinds = (("best format of Filigree", of_filigree, "#1f4e8c", ""),
             ("best other kernel of Kokkos Kernels", lambda name: name != REFERENCE and of_kokkos_kernels(name), "#ffffff", ""),
             ("best kernel of cuSPARSE", of_cusparse, "#f2c879", "///"))
    kinds = [kind for kind in kinds if any(run.fastest(kind[1]) for run in runs.values())]
    step = 0.8 / len(kinds)
    captions = list(dict.fromkeys(caption(run.context) for run in runs.values()))
    text = "\n".join(textwrap.fill(line, 46 * len(machines) + 40) for line in captions)
    above, below = 0.3, 0.8 + 0.17 * text.count("\n")
    height = above + (0.22 * len(kinds) + 0.12) * len(labels) + 0.8 + below
    # The legend needs the width of two diagrams.
    width = max(7.0, 2.6 + 3.4 * len(machines))
    figure, axes = plt.subplots(1, len(machines), figsize=(width, height), squeeze=False, sharey=True)
    for place, name in zip(axes.flat, machines):
        largest = 1.0
        for row, label in enumerate(labels):
            run = runs.get((name, label))
            for which, (_, belongs, face, hatch) in enumerate(kinds):
                bar = run and run.fastest(belongs)
                if not bar:
                    continue
                at = row - 0.4 + step * (which + 0.5)
                place.barh(at, bar.speed_up, color=face, hatch=hatch, edgecolor="#222222", linewidth=0.7, height=0.9 * step)
                name_of_kernel = bar.name.replace("cusparse_", "").replace(REFERENCE + "_", "")
                words = f"{bar.speed_up:.2f} {'native crs' if name_of_kernel == 'crs' else name_of_kernel}"
                place.annotate(words, (bar.speed_up, at), xytext=(3, 0), textcoords="offset points", va="center", fontsize=8,
                               bbox={"facecolor": "white", "edgecolor": "none", "pad": 0.6})
                largest = max(largest, bar.speed_up)
        place.axvline(1, color="#222222", linewidth=1, linestyle=(0, (4, 3)))
        # The texts beside the bars need about half as much space as the longest bar.
        place.set_xlim(0, 1.55 * largest)
        place.set_title(name, loc="left", fontsize=10.5)
        place.tick_params(axis="y", length=0)
    axes.flat[0].set_yticks(range(len(labels)), labels)
    axes.flat[0].set_ylim(len(labels) - 0.5, -0.5)
    figure.supxlabel("speed relative to Kokkos Kernels' CRS (dashed line, higher is better)", fontsize=10,
                     y=(below - 0.14) / height)
    figure.tight_layout(rect=(0, (below - 0.2) / height, 1, 1 - above / height), w_pad=1.5)
    figure.legend(handles=[Patch(facecolor=face, hatch=hatch, edgecolor="#222222", linewidth=0.7, label=name)
                           for name, _, face, hatch in kinds],
                  loc="lower left", ncol=len(kinds), frameon=False, fontsize=9, bbox_to_anchor=(0, (below - 0.55) / height))
    figure.text(0.01, 0.07 / height, text, fontsize=8.5, color="#444444", va="bottom")
    figure.text(0.01, 1 - 0.1 / height, arguments.title, fontsize=12, fontweight="bold", va="top")
    return save(figure, arguments.out)


def table(arguments):
    """The subcommand table: prints what the overview shows and what optimize() picked."""
    machines, labels, runs = grid_of_runs(arguments.file)

    def best(run):
        bar = run.fastest(of_filigree)
        return f"{bar.speed_up:.2f} {bar.name}"

    def pick(run):
        auto = run.fastest(lambda name: name == "auto")
        return f"{auto.speed_up:.2f} {run.picked}" if auto else "–"

    def against(belongs):
        def text(run):
            rival = run.fastest(belongs)
            return f"{run.fastest(of_filigree).speed_up / rival.speed_up:.2f}" if rival else "–"
        return text

    # (title, machine, text of a run)
    columns = []
    for name in machines:
        columns += [(f"{name}: best", name, best), ("pick", name, pick)]
        if any(run.fastest(of_cusparse) for (where, _), run in runs.items() if where == name):
            columns += [("best / best of Kokkos Kernels", name, against(of_kokkos_kernels)),
                        ("best / best of cuSPARSE", name, against(of_cusparse))]
    heads = ["matrix", "`filigree_spmv`"] + [title for title, _, _ in columns]
    print("| " + " | ".join(heads) + " |")
    print("|---" * len(heads) + "|")
    for label in labels:
        flags = next(run.context.get("flags", "") for (_, one), run in runs.items() if one == label)
        cells = [label, f"`{flags}`"]
        cells += [text(runs[name, label]) if (name, label) in runs else "–" for _, name, text in columns]
        print("| " + " | ".join(cells) + " |")
    return []


def time_ratios(before_path, after_path):
    """[(corrected ratio of the times, milliseconds before, milliseconds after, name)] of the formats of both files."""
    before, after = read_run(before_path), read_run(after_path)
    for what, value in (("matrix", lambda run: run.context["problem"]), ("scalar type", lambda run: run.context["scalar"]),
                        ("machine", machine)):
        if value(before) != value(after):
            raise PlotError(f"{after_path}: the {what} is {value(after)}, but in {before_path} it is {value(before)}")
    missing = {bar.name for bar in before.bars if of_filigree(bar.name)} - {bar.name for bar in after.bars}
    if missing:
        raise PlotError(f"{after_path} has no time of {', '.join(sorted(missing))}, which {before_path} has")
    on_gpu = before.context["backend"] in ("Cuda", "HIP")
    old_bars = {bar.name: bar for bar in before.bars}
    result = []
    for bar in after.bars:
        if bar.name == "auto" or bar.name not in old_bars:
            continue
        old = old_bars[bar.name]
        # Two GPUs of one kind differ by a few percent, as their bandwidths do. On a host the bandwidth varies more than
        # the speed relative to CRS, because both products of a pair are timed in turns.
        if on_gpu:
            ratio = bar.milliseconds * read_limit(after.context) / (old.milliseconds * read_limit(before.context))
        else:
            ratio = old.speed_up / bar.speed_up
        result.append((ratio, old.milliseconds, bar.milliseconds, bar.name))
    return result


def compare(arguments):
    """The subcommand compare: prints the times of each format in two folders, and their corrected ratio."""
    before, after = pathlib.Path(arguments.before), pathlib.Path(arguments.after)
    names = sorted(path.name for path in before.glob("*.json"))
    if not names:
        raise PlotError(f"{before} has no JSON files")
    rows = [(ratio, pathlib.Path(name).stem, format_name, old_time, time)
            for name in names for ratio, old_time, time, format_name in time_ratios(before / name, after / name)]
    print("| matrix | format | ms before | ms after | corrected ratio |\n|---|---|---|---|---|")
    for ratio, matrix, format_name, old_time, time in sorted(rows, reverse=True):
        print(f"| {matrix} | {format_name} | {old_time:.4g} | {time:.4g} | {ratio:.2f} |")
    own = [row for row in rows if of_filigree(row[2])]
    if not own:
        raise PlotError(f"{before} and {after} have no products of Filigree in common")
    slower = sum(row[0] > arguments.most for row in own)
    if slower:
        ratio, matrix, format_name, *_ = max(own)
        raise PlotError(f"the corrected ratio of {slower} of {len(own)} products of Filigree is above {arguments.most}; the largest "
                        f"is {ratio:.2f}, of {format_name} for {matrix}")
    return []
