"""One session of run/compare: who takes part, whose turn it is, and the rows that come of it."""

import contextlib
import json
import math
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import safely
from . import built, cases, frameworks, worker

TURN_S = 0.05  # about so long is a turn,
MOST_CALLS = 1000  # with no more calls than this,
FEWEST_CALLS = 3  # and no fewer, unless a call takes a second
PAUSE_S = 0.02  # after a turn: by then a framework's threads have stopped spinning
ROW_S = 2.0  # slow rows have fewer turns,
FEWEST_TURNS = 2
MOST_TOGETHER = 2_000_000  # points; isoneutral takes 4 GB a framework at one million
TRIAD_POINTS, FMA_POINTS = 1 << 24, 1 << 20
OF_ONE_RUN = ("input", "input_sha256", "command_line")  # of a file that is gone by then


def shown(value):
    """A path relative to the repository or, if it lies outside, its last name; other values as they
    are."""
    if not isinstance(value, (str, Path)) or os.sep not in str(value):
        return value
    path = Path(value).absolute()
    return str(path.relative_to(safely.ROOT)) if path.is_relative_to(safely.ROOT) else path.name


def calls_in_turn(call_s):
    fewest = 1 if call_s > 1 else FEWEST_CALLS
    return max(fewest, min(MOST_CALLS, int(TURN_S / call_s)))


def turns(call_s, rounds):
    fitting = int(ROW_S / (calls_in_turn(call_s) * call_s))
    return min(rounds, max(FEWEST_TURNS, fitting))


class Peer:
    """A framework in a process of its own, on so many cores."""

    def __init__(self, framework, cores, device, checkout):
        self.framework, self.cores = framework, cores
        self.device = "cpu" if framework in frameworks.HOST_ONLY else device
        command = [sys.executable, "-m", f"{__package__}.worker", framework, str(cores),
                   self.device, str(checkout)]
        environment = frameworks.environment(cores, safely.ROOT / "build")
        paths = [str(safely.ROOT / "run"), os.environ.get("PYTHONPATH")]
        environment["PYTHONPATH"] = os.pathsep.join(filter(None, paths))
        self.log = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=self.log, text=True, env=environment,
                                        start_new_session=True)  # Ctrl-C is for us alone
        greeting = self.answer()
        self.skip, self.version = greeting.get("skip"), greeting.get("version")

    def ask(self, what, **request):
        with contextlib.suppress(BrokenPipeError):  # the answer says so
            print(json.dumps({"do": what, **request}), file=self.process.stdin, flush=True)
        return self.answer()

    def answer(self):
        line = self.process.stdout.readline()
        if line:
            return json.loads(line)
        self.log.seek(0)
        last = (self.log.read().strip().splitlines() or ["without a word"])[-1]
        self.skip = f"its process ended with {self.process.wait()}: {last[:200]}"
        return {"skip": self.skip}

    def load(self, case, arguments, output):
        return self.ask("load", kernel=case.kernel, arguments=str(arguments),
                        ours=None if case.not_compared else str(output))

    def turn(self, calls):
        """Seconds of the fastest call, or why there are none."""
        answer = self.ask("time", calls=calls)
        return min(answer["seconds"]) if "seconds" in answer else answer

    def stop(self):
        try:
            self.process.stdin.close()
            self.process.wait(2)
        except (BrokenPipeError, subprocess.TimeoutExpired):
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        self.log.close()


class Miniapp:
    """miniapp in the place of a peer: its turn is a run of the program."""

    framework = "miniapp"

    def __init__(self, cores, device, program):
        self.cores, self.device, self.program = cores, device, program
        self.command = None  # of the case that is loaded
        self.version = self.provenance = self.row = None

    def run(self, *arguments):
        whole = built.report(self.program, "--device", self.device, *arguments, cores=self.cores)
        self.provenance = whole["provenance"]
        self.version = f"{self.provenance['version']} {self.provenance['git_commit']}"
        return whole["results"][0]

    def load(self, case, path, output):
        self.command = ["--kernel", case.kernel, "--precision", case.precision,
                        "--allow-invalid", path]
        self.row = self.run("--repetitions", 3, "--burnin", 3, "--output", output, *self.command)
        return {"first_s": None, "call_s": self.row["min_s"], "difference": None}

    def turn(self, calls):
        return self.run("--repetitions", calls, *self.command)["min_s"]

    def ceiling(self, kernel, precision, points):
        """The row of a calibration kernel, by its fastest call."""
        return self.run("--kernel", kernel, "--precision", precision, "--size", points,
                        "--repetitions", 10, safely.ROOT / "inputs/grid.h5")


class Session:
    def __init__(self, options, folder):
        self.options, self.folder = options, Path(folder)
        self.rows, self.skipped, self.peers = [], [], []
        self.miniapps = [Miniapp(cores, options.device, options.miniapp)
                         for cores in options.threads]
        self.ceilings, self.measured = {}, set()
        self.is_stopped = False

    def interrupt(self, *_):
        """Handles a signal. An exception raised within a destructor, or a hook of a fork, gets lost: check is_stopped
        before more work. Python would only tell of it."""
        self.is_stopped = True
        sys.unraisablehook = lambda _: None
        raise KeyboardInterrupt

    def start(self):
        for framework in self.options.framework:
            for cores in self.options.threads:
                peer = Peer(framework, cores, self.options.device, self.options.pyhpc)
                self.peers.append(peer)
                if peer.skip:
                    self.note(f"{framework}: skipped: {peer.skip}")
                    break
        self.warn_of_slow_blas()

    def versions(self):
        return dict.fromkeys((peer.framework, peer.version) for peer in self.peers if not peer.skip)

    def warn_of_slow_blas(self):
        for framework, version in self.versions():
            if "matmul" in self.options.kernel and frameworks.REFERENCE_BLAS in version:
                self.note(f"warning: {framework} {version} is slow at matmul: install an optimised "
                          "BLAS, such as Debian's libopenblas0-pthread")

    def stop(self):
        for peer in self.peers:
            peer.stop()

    def note(self, text):
        """A line that is said once, and kept with the results."""
        if text not in self.skipped:
            self.skipped.append(text)
            safely.say(text)

    def provenance(self):
        """The options and provenance, without names of this machine: results are published."""
        miniapp = {name: text for name, text in (self.miniapps[0].provenance or {}).items()
                   if name not in OF_ONE_RUN}
        return {"options": {name: shown(value) for name, value in vars(self.options).items()},
                "miniapp": miniapp}

    def run(self, case):
        """Yields the rows of a case, those of one number of cores after the other."""
        with safely.temporary_folder(dir=self.folder) as folder:
            arguments, path, output = folder / "arguments.npz", folder / "input.h5", folder / "out.h5"
            given, fields = cases.make(case, self.options.pyhpc)
            worker.write_input(path, fields)
            worker.write_arguments(given, arguments)
            del given, fields
            for miniapp in self.miniapps:
                loaded, times = {miniapp: miniapp.load(case, path, output)}, {miniapp: []}
                for group in self.groups(miniapp):
                    taking_part = {miniapp: loaded[miniapp]}
                    taking_part |= self.load_peers(case, group, arguments, output)
                    loaded |= taking_part
                    for one, seconds in self.take_turns(case, taking_part).items():
                        times[one] = times.get(one, []) + seconds
                output.unlink()
                yield self.rows_of(case, loaded, times)

    def groups(self, miniapp):
        """Peers that take turns with miniapp together: all, or each by itself where the memory
        would not hold them all."""
        peers = [peer for peer in self.peers if peer.cores == miniapp.cores and not peer.skip]
        return [peers] if miniapp.row["points"] <= MOST_TOGETHER else [[peer] for peer in peers]

    def load_peers(self, case, peers, arguments, output):
        """The first calls of each peer that can run the case."""
        loaded = {}
        for peer in peers:
            answer = peer.load(case, arguments, output)
            if "skip" in answer:
                self.note(f"{peer.framework}, {case.kernel}: skipped: {answer['skip']}")
            else:
                loaded[peer] = answer
        return loaded

    def take_turns(self, case, loaded):
        """Seconds of the fastest call of each turn, for each of those who take part."""
        times = {one: [] for one in loaded}
        for round_ in range(self.options.rounds):
            for one, answer in loaded.items():
                if round_ >= turns(answer["call_s"], self.options.rounds):
                    continue
                seconds = one.turn(calls_in_turn(answer["call_s"]))
                if isinstance(seconds, dict):
                    self.note(f"{one.framework}, {case.kernel}: stopped: {seconds['skip']}")
                else:
                    times[one].append(seconds)
                time.sleep(PAUSE_S)
        for one in loaded:
            if isinstance(one, Peer) and not one.skip:
                one.ask("drop")
        return times

    def ceiling(self, miniapp, case):
        """Bytes and operations a second that memory and arithmetic can do on these cores: the most
        so far. They are measured anew for each kernel, as noise may hide what a machine can do."""
        key = case.precision, miniapp.cores
        if (key, case.kernel) not in self.measured:
            self.measured.add((key, case.kernel))
            triad = miniapp.ceiling("triad", case.precision, TRIAD_POINTS)
            fma = miniapp.ceiling("fma", case.precision, FMA_POINTS)
            bandwidth, arithmetic = self.ceilings.get(key, (0, 0))
            self.ceilings[key] = (max(bandwidth, triad["bytes"] / triad["min_s"]),
                                  max(arithmetic, fma["flops"] / fma["min_s"]))
        return self.ceilings[key]

    def rows_of(self, case, loaded, times):
        seconds = {one: statistics.median(list_) for one, list_ in times.items() if list_}
        miniapp = next(iter(loaded))
        numpy = next((s for one, s in seconds.items() if one.framework == "numpy"), None)
        rows, known = [], miniapp.provenance
        for one, time_s in seconds.items():
            rows.append({
                "kernel": case.kernel, "inputs": case.inputs, "precision": case.precision, "device": one.device,
                **{name: miniapp.row[name] for name in ("nx", "ny", "nz", "points")}, "cores": one.cores,
                "framework": one.framework, "version": one.version,
                "seconds": time_s, "ns_per_point": 1e9 * time_s / miniapp.row["points"],
                "speedup_over_numpy": numpy and numpy / time_s,
                "miniapp_is_faster_by": time_s / seconds[miniapp],
                "first_call_s": loaded[one]["first_s"],
                "calls": calls_in_turn(loaded[one]["call_s"]) * len(times[one]),
                "turns": len(times[one]), **self.costs(miniapp, case, time_s),
                **verdict(case, one, loaded[one]["difference"]),
                "machine": f"{known['host']}, {known['cpu']}", "date": known["time"][:10]})
        self.rows += rows
        return rows

    def costs(self, miniapp, case, time_s):
        """The bytes and flops of the kernel, as miniapp counts them, for all peers."""
        bandwidth, arithmetic = self.ceiling(miniapp, case)
        rate = miniapp.row["bytes"] / time_s
        return {"bytes": miniapp.row["bytes"], "flops": miniapp.row["flops"],
                "gb_per_s": 1e-9 * rate, "share_of_triad": rate / bandwidth,
                "triad_gb_per_s": 1e-9 * bandwidth, "fma_gflop_per_s": 1e-9 * arithmetic}


def verdict(case, one, difference):
    if difference is None:
        return {"largest_difference": None, "tolerance": None,
                "consistent": "reference" if isinstance(one, Miniapp) else "not compared"}
    good = difference <= case.tolerance  # not so for NaN
    return {"largest_difference": difference if math.isfinite(difference) else None,  # as in JSON
            "tolerance": case.tolerance, "consistent": "yes" if good else "NO"}
