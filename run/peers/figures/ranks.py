"""The figures of run/scaling: what was measured, and what was predicted, labelled as such."""

from matplotlib.ticker import FixedLocator, NullLocator

from .. import cost, figures, ranks


def count_axis(axis, counts):
    """An axis of numbers of ranks; if there are many, only some are labelled."""
    counts = sorted(set(counts))
    axis.set_major_locator(FixedLocator(counts[::1 + len(counts) // 8]))
    axis.set_major_formatter(figures.short)
    axis.set_minor_locator(NullLocator())


def draw(series, prefix):
    """Strong scaling by its speedup, weak scaling by its efficiency, each with the ideal."""
    with figures.style():
        figure, axes = figures.panels(1, len(series), 3.2, share=False)
        figure.set_figwidth(3.6 * len(series) + 0.6)
        for axis, (kind, runs) in zip(axes[0], series.items()):
            panel = strong if kind == "strong" else weak
            panel(axis, runs)
            row = runs[0].row
            axis.set_title(f"{kind}: {row['kernel']}, {row['device']}, {row['precision']}")
            axis.set_xlabel("ranks")
            count_axis(axis.xaxis, [run.ranks for run in runs])
            axis.legend()
        return figures.save(figure, prefix, *sorted({run.place for runs in series.values() for run in runs}))


def lines(axis, runs, ideal, value, colour):
    """The ideal, and a value of each run by its median step, with how far the quartiles lie below and above."""
    counts, middle = [run.ranks for run in runs], [value(run) for run in runs]
    low, high = ([m * run.seconds / run.quartiles[which] for m, run in zip(middle, runs)] for which in (1, 0))
    axis.plot(counts, ideal, color="0.6", linestyle="--", label="ideal")
    axis.errorbar(counts, middle, [[m - x for m, x in zip(middle, low)], [x - m for m, x in zip(middle, high)]],
                  color=colour, marker="o", label="measured; bars: quartiles")
    axis.set_xscale("log")


def strong(axis, runs):
    first = runs[0].ranks
    lines(axis, runs, [run.ranks / first for run in runs], lambda run: ranks.speedup(run, runs[0]), "#0072B2")
    axis.set_yscale("log")
    figures.log_axis(axis.yaxis, figures.short)
    axis.set_ylabel(f"speedup over {first} rank{'' if first == 1 else 's'}")


def weak(axis, runs):
    lines(axis, runs, [100] * len(runs), lambda run: 100 * ranks.efficiency(run, runs[0]), "#D55E00")
    axis.set_ylim(bottom=0)
    axis.set_ylabel("efficiency, %")


def draw_predictions(found, prefix):
    """A panel for each kind of ranks: a step's time against their number, and the ideal."""
    with figures.style():
        figure, axes = figures.panels(1, len(found.machines), 3.4, share=False)
        figure.set_figwidth(3.8 * len(found.machines) + 0.6)
        for axis, machine in zip(axes[0], found.machines):
            for (ocean, size), colour in zip(cost.OCEANS.items(), ("#0072B2", "#D55E00")):
                rows = list(cost.predictions(found.step, machine, size))
                times = [sum(parts) for *_, parts in rows]
                axis.loglog(cost.RANKS, times, color=colour, linestyle=":", marker="o",
                            markerfacecolor="none", label=f"prediction, {ocean}")
                axis.loglog(cost.RANKS, [times[0] / count for count in cost.RANKS], color=colour,
                            linewidth=0.7, linestyle="--", alpha=0.6)
            axis.plot([], [], color="0.6", linewidth=0.7, linestyle="--", label="ideal")
            axis.set_title(f"PREDICTION, not measured: {machine.name}")
            axis.set_xlabel("ranks")
            axis.set_ylabel("predicted time of a step")
            count_axis(axis.xaxis, cost.RANKS)
            figures.log_axis(axis.yaxis, figures.SECONDS)
            axis.legend()
        return figures.save(figure, prefix, f"prediction, not measured; {found.basis}\n" + "\n".join(
            f"{machine.name}: " + ", ".join(
                f"{cost.written(*pair[:2])} ({pair[2]})"
                for pair in zip(cost.FACTORS, machine.factors, machine.sources))
            for machine in found.machines), size=5)
