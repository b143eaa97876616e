"""The rows of run/compare: their columns, their files, and rows from other files like them."""

import csv
import json
from pathlib import Path

STATISTIC = ("seconds: median over turns of the fastest call of a turn; data resident, first "
             "calls untimed, every call waited for; cores: the process is pinned to so many")

# name of a column and what its words become when they are read
COLUMNS = {
    "kernel": str, "inputs": str, "precision": str, "device": str, "nx": int, "ny": int,
    "nz": int, "points": int, "cores": int, "framework": str, "version": str, "seconds": float,
    "ns_per_point": float, "speedup_over_numpy": float, "miniapp_is_faster_by": float,
    "first_call_s": float, "calls": int, "turns": int, "bytes": float, "flops": float,
    "gb_per_s": float, "share_of_triad": float, "triad_gb_per_s": float,
    "fma_gflop_per_s": float, "largest_difference": float, "tolerance": float,
    "consistent": str, "machine": str, "date": str,
}
NEEDED = ("kernel", "framework", "points", "seconds", "machine", "date")


class Unusable(Exception):
    """A file holds no results; the text is one line that says what was expected."""


def write(prefix, rows, skipped, provenance):
    """PREFIX.csv and PREFIX.json."""
    with open(f"{prefix}.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.DictWriter(file, COLUMNS, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)
    whole = {"statistic": STATISTIC, "provenance": provenance, "skipped": skipped, "rows": rows}
    text = json.dumps(whole, indent=1, allow_nan=False)
    Path(f"{prefix}.json").write_text(text + "\n", encoding="utf-8")


def read(path):
    """Rows of run/compare's CSV or JSON, or of what miniapp prints by --format json."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = getattr(error, "strerror", None) or "it is no text"
        raise Unusable(f"{path}: cannot be read: {reason}") from error
    try:
        rows = from_json(json.loads(text)) if text.lstrip()[:1] == "{" else from_csv(text)
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        raise Unusable(f"{path}: is neither run/compare's CSV or JSON nor what miniapp prints by "
                       f"--format json ({type(error).__name__}: {error})") from error
    if not rows:
        raise Unusable(f"{path}: holds no rows of results")
    return rows


def from_csv(text):
    rows = []
    for line in csv.DictReader(text.splitlines()):
        row = {name: kind(line[name]) if line.get(name) else None
               for name, kind in COLUMNS.items()}
        rows.append(checked(row))
    return rows


def from_json(whole):
    if "rows" in whole:
        return [checked({name: row.get(name) for name in COLUMNS}) for row in whole["rows"]]
    return from_miniapp(whole["results"], whole["provenance"])


def checked(row):
    for name in NEEDED:
        if not row[name]:
            raise ValueError(f"a row without {name}")
    if not float(row["seconds"]) > 0:
        raise ValueError(f"{row['seconds']} seconds")
    return row


def from_miniapp(results, provenance):
    """miniapp's own rows: one series for each of its devices."""
    ceilings = {}  # of triad the row with as many bytes counts, as miniapp has it
    for result in results:
        if result["kernel"] in ("triad", "fma"):
            place = result["kernel"], result["device"], result["precision"]
            ceilings.setdefault(place, []).append(result)
    rows = []
    for result in results:
        row = dict.fromkeys(COLUMNS)
        row.update({name: result[name] for name in COLUMNS if name in result})
        row.update(framework=f"miniapp, {result['device']}", seconds=result["median_s"],
                   inputs=Path(provenance["input"]).name, cores=int(provenance["threads"]),
                   machine=f"{provenance['host']}, {provenance['cpu']}",
                   date=provenance["time"][:10],
                   triad_gb_per_s=rate(ceilings, "triad", "bytes", result),
                   fma_gflop_per_s=rate(ceilings, "fma", "flops", result))
        rows.append(checked(row))
    return rows


def rate(ceilings, kernel, what, result):
    """Thousands of millions a second of a calibration kernel; None where it did not run."""
    found = ceilings.get((kernel, result["device"], result["precision"]))
    if not found:
        return None
    nearest = min(found, key=lambda row: abs(row["bytes"] - result["bytes"]))
    return 1e-9 * nearest[what] / nearest["median_s"]
