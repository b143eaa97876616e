"""Runs of miniapp against each other: how many times as long each row takes as in the first run."""

import dataclasses

import matplotlib.pyplot as plt

from .. import figures, results

KEY = ("kernel", "device", "precision", "nx", "ny", "nz", "threads")
DEFAULTS = ("static", "distribute", "", None)  # variants, which older files do not name
# Provenance by which runs may differ; for the last two, only the words that differ are shown.
TELLING = ("version", "git_commit", "build_type", "compiler", "offload_target", "hdf5_version",
           "host", "device", "input", "flags", "settings")
OF_WORDS = ("flags", "settings")


@dataclasses.dataclass
class Run:
    path: str
    rows: dict  # by what must be equal for a ratio to mean something
    provenance: dict
    label: str = ""


@dataclasses.dataclass
class Ratio:
    """The ratio of two medians, and the least and the largest ratio of times between the
    quartiles."""

    median: float
    low: float
    high: float


def read(path):
    rows, provenance = results.read_run(path)
    return Run(str(path), {(*key_of(row), variant_of(row)): row for row in rows}, provenance)


def key_of(row):
    return tuple(row.get(name) for name in KEY)


def variant_of(row):
    """None for the default directives."""
    return None if row.get("variant") in DEFAULTS else row["variant"]


def by_variant(path):
    """The directive variants of a run as runs; none where there is but one."""
    try:
        rows, provenance = results.read_run(path)
    except results.Unusable:  # as a table of run/compare is
        return []
    names = list(dict.fromkeys(row.get("variant") for row in rows))
    if len(names) < 2:
        return []
    return [Run(str(path), {(*key_of(row), None): row for row in rows if row["variant"] == name}, provenance, name)
            for name in names]


def words_of(run, name):
    """A value of the provenance: a text, in JSON perhaps a number or an object."""
    value = run.provenance.get(name, "")
    if isinstance(value, dict):
        return [f"{key}={number}" for key, number in value.items()]
    return str(value).split() if name in OF_WORDS else [str(value)]


def label_all(runs):
    """Names each run by its file and by what of its provenance is not that of all runs."""
    for run in runs:
        differing = []
        for name in TELLING:
            words = {one.path: words_of(one, name) for one in runs}
            common = set.intersection(*map(set, words.values()))
            found = " ".join(word for word in words[run.path] if word not in common)
            if found and name not in OF_WORDS:
                found = f"{name} {found}"
            differing += [found] * bool(found)
        run.label = ": ".join([run.path.rpartition("/")[2], ", ".join(differing)]).rstrip(": ")


def ratio(row, base):
    return Ratio(row["median_s"] / base["median_s"], row["p25_s"] / base["p75_s"],
                 row["p75_s"] / base["p25_s"])


def compare(runs, note):
    """[(what the row is, its ratio in each run but the first, or None)]; Unusable where the runs
    have no row in common."""
    first, others = runs[0], runs[1:]
    found = [(key, [ratio(run.rows[key], base) if key in run.rows else None for run in others])
             for key, base in first.rows.items() if any(key in run.rows for run in others)]
    if not found:
        raise results.Unusable(f"{first.path}: no other run has a row of the same "
                               f"{', '.join(KEY[:-1])} and {KEY[-1]}")
    for run in others:
        if alone := len(first.rows.keys() ^ run.rows.keys()):
            note(f"{run.path}: {alone} rows are not in both this and {first.path}; left out")
    return found


def describe(key):
    kernel, device, precision, nx, ny, nz, threads, variant = key
    text = f"{kernel}, {device}, {precision}, {nx} x {ny} x {nz}"
    return text + (f", {threads} thread{'s' * (int(threads) > 1)}" if threads else "") + (f", {variant}" if variant else "")


def wide(rows):
    """Whether ratios are so far apart that their axis is to be logarithmic."""
    found = [one for _, ratios in rows for one in ratios if one]
    return max(one.high for one in found) > 3 * min(one.low for one in found)


def draw(paths, prefix, note):
    """A row of the figure for each row of the runs: the files' names."""
    runs = [read(path) for path in paths]
    label_all(runs)
    return draw_ratios(runs, note, f"{prefix}-ratios", "that of the first run")


def draw_variants(path, prefix, note):
    """As draw, for the directive variants of one run; nothing where it has but one."""
    runs = by_variant(path)
    return draw_ratios(runs, note, f"{prefix}-variants", f"that of {runs[0].label}") if runs else []


def draw_ratios(runs, note, path, base):
    rows = compare(runs, note)
    with figures.style():
        figure, axis = plt.subplots(layout="constrained", figsize=(8, 1.6 + 0.26 * len(rows)
                                                                   + 0.18 * len(runs)))
        lines = [axis.axvline(1, color="0.3", linewidth=1.0)]
        for i, _ in enumerate(runs[1:]):
            lines.append(draw_run(axis, [ratios[i] for _, ratios in rows], i, len(runs) - 1))
        axis.legend(lines, [run.label for run in runs], loc="lower left", bbox_to_anchor=(0, 1.01))
        axis.set_yticks(range(len(rows)), [describe(key) for key, _ in rows])
        axis.set_ylim(len(rows) - 0.5, -0.5)
        for y, (_, ratios) in enumerate(rows):
            text = ", ".join(f"{one.median:.3g}" if one else "-" for one in ratios)
            axis.annotate(text, (1.01, y), xycoords=("axes fraction", "data"), va="center",
                          fontsize=7)
        if wide(rows):
            axis.set_xscale("log")
            figures.log_axis(axis.xaxis, figures.short, few=True)
        axis.set_xlabel(f"median time over {base}; bars: quartile over quartile")
        return figures.save(figure, path, *sorted({
            f"{run.provenance.get('host')}, {run.provenance.get('cpu')}, {str(run.provenance.get('time'))[:10]}"
            for run in runs}))


def draw_run(axis, ratios, number, count):
    """Draws one run's ratios; those of several runs lie side by side within a row."""
    colour, marker, _ = figures.OTHERS[(number + 1) % len(figures.OTHERS)]
    shown = [(y + 0.6 * ((number + 0.5) / count - 0.5), one) for y, one in enumerate(ratios) if one]
    return axis.errorbar([one.median for _, one in shown], [y for y, _ in shown],
                         xerr=[[one.median - one.low for _, one in shown],
                               [one.high - one.median for _, one in shown]],
                         color=colour, marker=marker, linestyle="none", elinewidth=1.2)
