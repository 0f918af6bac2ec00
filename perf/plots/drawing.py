# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all figures have in common: reading the JSON of Google Benchmark, words, colours, and writing files."""
import json
import math
import pathlib
import textwrap
from dataclasses import dataclass

NEEDED_CONTEXT = ("device", "backend", "host_threads", "read_bandwidth_GBps", "filigree_version", "kokkos_version",
                  "kokkos_kernels_version", "compiler", "date")


class PlotError(Exception):
    """A message for the user."""


def positive(path, what, value):
    """A time or a bandwidth of a file, which must be a number above 0."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not (math.isfinite(number) and number > 0):
        raise PlotError(f"{path}: {what} is {value}, but must be a number above 0")
    return number


def read_json(path, how, needed=()):
    """(context, benchmarks) of a JSON file of Google Benchmark. `how` says how to write such a file."""
    try:
        content = json.loads(pathlib.Path(path).read_text())
        context, benchmarks = content["context"], content["benchmarks"]
    except OSError as error:
        raise PlotError(f"{path} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError) as error:
        raise PlotError(f"{path} is not a JSON file of Google Benchmark; {how}") from error
    missing = [key for key in (*needed, *NEEDED_CONTEXT) if key not in context]
    if missing:
        raise PlotError(f"{path} does not say its {missing[0]}; {how}")
    positive(path, "the read bandwidth", context["read_bandwidth_GBps"])
    for key in ("device", "host_processor"):
        if key in context:
            context[key] = context[key].replace("(R)", "").replace("(TM)", "")
    return context, benchmarks


@dataclass
class Entry:
    """A benchmark: PROGRAM/FORMAT/SCALAR/PROBLEM, with its figures by name."""
    program: str
    format: str
    scalar: str
    problem: str
    figures: dict
    refusal: str = ""  # why it was not measured

    def __getitem__(self, figure):
        try:
            return self.figures[figure]
        except KeyError as error:
            raise PlotError(f"{self.program}/{self.format}/{self.scalar}/{self.problem} has no {figure}; was the file "
                            f"written by this version of filigree_{self.program}?") from error


def read_session(path, program=None):
    """(context, entries) of a file that `program`, or any program, wrote with --out=FILE."""
    how = f"write it with filigree_{program} --out=FILE" if program else "write it with a program of perf/"
    context, benchmarks = read_json(path, how)
    entries, seen = [], set()
    for one in benchmarks:
        parts = one["name"].split("/")
        if len(parts) < 4 or parts[0] != (program or parts[0]) or one.get("run_type") == "aggregate" or tuple(parts[:4]) in seen:
            continue
        seen.add(tuple(parts[:4]))
        refusal = one.get("error_message", "refused") if one.get("error_occurred") or one.get("skipped") else ""
        entries.append(Entry(*parts[:4], one, refusal))
    if not any(not entry.refusal for entry in entries):
        raise PlotError(f"{path} has no measurements{f' of filigree_{program}' if program else ''}; {how}")
    return context, entries


def count(text):
    """A large number in words, as in "1.05 million"."""
    number = float(text)
    for size, word in ((1e9, "billion"), (1e6, "million")):
        if number >= size:
            return f"{number / size:.3g} {word}"
    return f"{number:.0f}"


def duration(milliseconds):
    return f"{1e3 * milliseconds:.3g} µs" if milliseconds < 0.01 else f"{milliseconds:.3g} ms"


def caption(context):
    """Device, versions and date. Runs on one machine have the same caption."""
    threads = context["host_threads"]
    device = context["device"]
    if context["backend"] != "Cuda":
        device += f", {threads} thread" + ("" if threads == "1" else "s")
    versions = (f"Filigree {context['filigree_version']}, Kokkos {context['kokkos_version']}, "
                f"Kokkos Kernels {context['kokkos_kernels_version']}, {context['compiler']}")
    if "cuda_version" in context:
        versions += f", CUDA {context['cuda_version']}"
    return f"{device} ({context['backend']} backend). {versions}. {context['date'][:10]}."


def read_limit(context):
    """The measured read bandwidth in GB/s."""
    return float(context["read_bandwidth_GBps"])


def load_matplotlib():
    try:
        import matplotlib
        matplotlib.use("Agg")
        import matplotlib.pyplot
    except ImportError as error:
        raise PlotError(f"{error}; install matplotlib (Debian: apt install python3-matplotlib)") from error
    # The same data gives the same files.
    matplotlib.rcParams.update({"svg.hashsalt": "filigree", "font.size": 10, "hatch.linewidth": 0.6,
                                "axes.spines.top": False, "axes.spines.right": False, "figure.facecolor": "white"})
    return matplotlib.pyplot


def save(figure, prefix):
    """Writes PREFIX.png and PREFIX.svg, closes the figure and returns their paths."""
    written = [f"{prefix}.png", f"{prefix}.svg"]
    figure.savefig(written[0], dpi=144, metadata={"Software": None})
    figure.savefig(written[1], metadata={"Date": None})
    load_matplotlib().close(figure)
    return written


class Page:
    """Diagrams with a title above them, and a legend, notes and captions below them. Sizes are in inches."""

    def __init__(self, title, contexts, rows, columns, width, height, notes="", **subplots):
        plt = load_matplotlib()
        lines = [notes] if notes else []
        lines += list(dict.fromkeys(caption(context) for context in contexts))
        self._text = "\n".join(textwrap.fill(line, int(15.5 * width * columns)) for line in lines)
        self._title = title
        self._width = width * columns
        self._height = rows * height
        self.figure, self.axes = plt.subplots(rows, columns, figsize=(self._width, self._height), squeeze=False, **subplots)

    def _legend(self, handles, columns, y):
        return self.figure.legend(handles=handles, loc="upper left", ncol=columns, frameon=False, fontsize=9, columnspacing=1.3,
                                  handletextpad=0.5, handlelength=2.8, bbox_to_anchor=(0, y))

    def _columns_that_fit(self, handles):
        """The largest number of columns with which the legend is not wider than the page."""
        for columns in range(len(handles), 1, -1):
            legend = self._legend(handles, columns, 1)
            width = legend.get_window_extent(self.figure.canvas.get_renderer()).width / self.figure.dpi
            legend.remove()
            if width <= self._width:
                return columns
        return 1

    def save(self, handles, prefix):
        """Lays the page out and writes it. `handles` make the legend."""
        columns = self._columns_that_fit(handles) if handles else 1
        lines = -(-len(handles) // columns)
        above, below = 0.35, 0.25 + 0.22 * lines + 0.17 * (1 + self._text.count("\n"))
        height = above + self._height + below
        self.figure.set_size_inches(self._width, height)
        self.figure.tight_layout(rect=(0, below / height, 1, 1 - above / height), w_pad=2.0, h_pad=1.5)
        if handles:
            # Rows that are equally long need no more columns than this.
            self._legend(handles, -(-len(handles) // lines), (below + 0.02) / height)
        self.figure.text(0.01, 0.07 / height, self._text, fontsize=8.5, color="#444444", va="bottom")
        self.figure.text(0.01, 1 - 0.1 / height, self._title, fontsize=12, fontweight="bold", va="top")
        return save(self.figure, prefix)


def logarithmic(axis, low=None, high=None):
    """A logarithmic axis with plain numbers, labelled at 1, 2 and 5 times the powers of ten."""
    from matplotlib.ticker import FormatStrFormatter, LogLocator, NullFormatter
    axis.axes.set(**{f"{axis.axis_name}scale": "log"})
    if low is not None:
        axis.axes.set(**{f"{axis.axis_name}lim": (low, high)})
    axis.set_major_locator(LogLocator(subs=(1, 2, 5)))
    axis.set_major_formatter(FormatStrFormatter("%g"))
    axis.set_minor_formatter(NullFormatter())
    axis.set_tick_params(which="both", labelsize=8)


# Colour, marker and line of a format in diagrams with lines, and face colour and hatch in those with bars. The
# colours differ in brightness, so that they can be told apart in print without colours.
LINES = {
    "cds": ("#0b2a5b", "o", "-"), "dia": ("#7a9cc6", "s", "-"), "ell": ("#2e7d4f", "^", "-"),
    "sell": ("#8cc084", "v", "-"), "bsr": ("#b5651d", "D", "--"), "kokkos_kernels": ("#222222", "x", "--"),
    "crs": ("#777777", "+", "--"), "crs_balanced": ("#a0a0a0", "P", "-"), "cusparse_csr_alg1": ("#c0392b", "x", ":"),
    "cusparse_bsr": ("#e8a33d", "D", ":"),
}
BARS = {
    "crs_lanes1": ("#dddddd", ""), "crs_lanes16": ("#bbbbbb", "..."), "crs_lanes32": ("#dddddd", "..."), "crs": ("#777777", ""),
    "crs_balanced": ("#777777", "///"), "ellpack": ("#2e7d4f", ""), "ell": ("#9fcf9b", "\\\\\\"), "hyb": ("#b5651d", ""),
    "hyb_least_bytes": ("#e3c09b", ""), "hec": ("#0b2a5b", ""), "hec_third_of_rows": ("#5b86bd", ""),
    "ellr_t_best": ("#0b2a5b", ""), "ellr_t_half_warps": ("#c5d6ea", ""), "ellr_t_sectors": ("#5b86bd", ""),
    "ellr_t_worst": ("#ffffff", "xxx"), "cusparse_csr_alg1": ("#e8a33d", "///"), "cusparse_sell": ("#f7dfb0", "xxx"),
    "kokkos_kernels": ("#ffffff", ""),
}

NAMES = {"kokkos_kernels": "Kokkos Kernels' CRS", "crs": "native CRS", "crs_balanced": "balanced CRS", "bsr": "BSR",
         "dia": "DIA", "ell": "ELLPACK-R", "sell": "SELL", "cds": "CDS", "cusparse_csr_alg1": "cuSPARSE CSR",
         "cusparse_bsr": "cuSPARSE BSR", "cusparse_sell": "cuSPARSE SELL", "ellpack": "ELLPACK", "hyb": "HYB", "hec": "HEC",
         "hyb_least_bytes": "HYB, least bytes", "hec_third_of_rows": "HEC, third of rows", "coo": "COO", "jds": "JDS",
         "bell": "blocked ELL", "crs_lanes1": "CRS, one lane per row", "crs_lanes16": "CRS, half a warp per row",
         "crs_lanes32": "CRS, a warp per row", "sell_sorted_short": "SELL, sorted, short columns", "auto": "optimize's pick",
         "ellr_t_best": "ELLR-T, fastest launch", "ellr_t_worst": "ELLR-T, slowest launch",
         "ellr_t_half_warps": "ELLR-T, launch of the paper's model", "ellr_t_sectors": "ELLR-T, launch of our model"}


def in_words(name):
    """The name of a format in a legend."""
    return NAMES.get(name, name)


def line_style(name):
    """Colour, marker and line of a format."""
    return LINES.get(name, ("#5b2a86", "*", "-."))


def in_order(entries, key):
    """The distinct values of key(entry), in their first order."""
    return list(dict.fromkeys(key(entry) for entry in entries))
