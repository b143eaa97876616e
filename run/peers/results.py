"""The rows of run/compare: their columns, their files, and rows from other files like them."""

import csv
import io
import json
from pathlib import Path

import safely

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


class WrongRow(ValueError):
    """A row that nothing has measured; the text says why."""


def write(prefix, rows, skipped, provenance):
    """PREFIX.csv and PREFIX.json."""
    table = io.StringIO(newline="")
    writer = csv.DictWriter(table, COLUMNS, lineterminator="\n")
    writer.writeheader()
    writer.writerows(rows)
    put(f"{prefix}.csv", table.getvalue().encode())
    whole = {"statistic": STATISTIC, "provenance": provenance, "skipped": skipped, "rows": rows}
    put(f"{prefix}.json", (json.dumps(whole, indent=1, allow_nan=False) + "\n").encode())


def put(path, data):
    """Writes a file as a whole: on a full disk the old one stays."""
    with safely.replacing(path) as new:
        new.write_bytes(data)


def read(path):
    """Rows of run/compare's CSV or JSON, or of what miniapp prints by --format csv or json."""
    return parsed(path, rows_of, "neither run/compare's CSV or JSON nor what miniapp prints by "
                  "--format json or csv")


def read_run(path):
    """The results and the provenance that miniapp prints by --format csv or json."""
    return parsed(path, run_of, "not what miniapp prints by --format json or csv")


def parsed(path, parse, reason):
    """Parses a file. The parser returns rows, or a pair that begins with them."""
    try:
        text = Path(path).read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        why = getattr(error, "strerror", None) or "it is no text"
        raise Unusable(f"{path}: cannot be read: {why}") from error
    try:
        found = parse(text)
    except safely.MALFORMED as error:
        why = f" ({error})" if isinstance(error, WrongRow) else ""
        raise Unusable(f"{path}: is {reason}{why}") from error
    if not found or not found[0]:
        raise Unusable(f"{path}: holds no rows of results")
    return found


def is_json(text):
    return text.lstrip()[:1] == "{"


def rows_of(text):
    if is_json(text) and "rows" in (whole := json.loads(text)):
        return [checked({name: row.get(name) for name in COLUMNS}) for row in whole["rows"]]
    if is_json(text) or text[:1] == "#":
        return from_miniapp(*run_of(text))
    return from_csv(text)


def run_of(text):
    """miniapp's results and provenance; in CSV the latter are comments above the rows."""
    if is_json(text):
        whole = json.loads(text)
        return [timed(row) for row in whole["results"]], {**whole["provenance"]}
    lines = text.splitlines()
    comments = [line[2:].partition(": ") for line in lines if line[:1] == "#"]
    table = csv.DictReader(line for line in lines if line[:1] != "#")
    rows = [{name: number(word) for name, word in row.items()} for row in table]
    return [timed(row) for row in rows], {name: word for name, _, word in comments}


def number(word):
    """A cell of miniapp's CSV, which is a number where it looks like one."""
    for kind in (int, float):
        try:
            return kind(word)
        except ValueError:
            pass
    return word or None


def check_cells(row):
    for name in (*COLUMNS, "threads"):
        if isinstance(row.get(name), (dict, list)):
            raise WrongRow(f"{name} is neither a number nor a word")


def timed(row):
    check_cells(row)
    for name in ("p25_s", "median_s", "p75_s"):
        if not row[name] > 0:
            raise WrongRow(f"{name} is {row[name]}")
    if not row["p25_s"] <= row["median_s"] <= row["p75_s"]:
        raise WrongRow(f"median_s is {row['median_s']}, which is not between p25_s and p75_s")
    return row


def from_csv(text):
    return [checked({name: kind(line[name]) if line.get(name) else None for name, kind in COLUMNS.items()})
            for line in csv.DictReader(text.splitlines())]


def checked(row):
    check_cells(row)
    for name in NEEDED:
        if not row[name]:
            raise WrongRow(f"a row without {name}")
    if not float(row["seconds"]) > 0:
        raise WrongRow(f"{row['seconds']} seconds")
    return row


def from_miniapp(results, provenance):
    """miniapp's own rows: one series for each of its devices or directive variants."""
    ceilings = {}
    for result in results:
        if result["kernel"] in ("triad", "fma"):
            ceilings.setdefault((result["kernel"], *place(result)), []).append(result)
    rows = []
    for result in results:
        row = dict.fromkeys(COLUMNS)
        row.update({name: result[name] for name in COLUMNS if name in result})
        row.update(framework=series(result, results), seconds=result["median_s"],
                   inputs=Path(provenance["input"]).name,
                   cores=int(result.get("threads") or provenance["threads"]),
                   machine=f"{provenance['host']}, {provenance['cpu']}",
                   date=provenance["time"][:10],
                   triad_gb_per_s=rate(ceilings, "triad", "bytes", result),
                   fma_gflop_per_s=rate(ceilings, "fma", "flops", result))
        rows.append(checked(row))
    return rows


def series(result, results):
    """Names the variant where a device has several."""
    device = result["device"]
    varied = len({one.get("variant") for one in results if one["device"] == device}) > 1
    return f"miniapp, {device}, {result['variant']}" if varied else f"miniapp, {device}"


def place(result):
    """The properties that a row shares with its ceilings."""
    return result["device"], result.get("variant"), result["precision"], result.get("threads")


def rate(ceilings, kernel, what, result):
    """The rate of a calibration kernel in units of 1e9 a second: the ceiling that --roofline measured
    beside the row, else that of the row of this kernel with about as many bytes; None if there is
    neither."""
    if beside := result.get(f"ceiling_{what}_per_s"):
        return 1e-9 * beside
    found = ceilings.get((kernel, *place(result)))
    if not found:
        return None
    nearest = min(found, key=lambda row: abs(row["bytes"] - result["bytes"]))
    return 1e-9 * nearest[what] / nearest["median_s"]
