"""Does each kernel still agree with its reference, and is it as fast as it was?

Speed is the share of the ceilings, triad and fma, that the same run measures beside the kernel. A
partition's `extras` may name the share to expect of each kernel; a check fails below 80 % of it.
Without an expected share, or where a row is marked as noisy, disturbed or short, times are kept, but no check fails
because of them.
"""

import json
from pathlib import Path

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import (fixture, parameter, performance_function, run_after, run_before,
                                   sanity_function, variable)

ROOT = Path(__file__).resolve().parents[2]


UNSURE = {"noisy", "disturbed", "short"}  # marks of a row, of a machine that others use, too


def kernels():
    """The ocean's kernels, by the names of their sources, so that nothing has to be built to list
    them. --roofline runs those of the machine's kernels that are needed."""
    return sorted(path.stem for path in (ROOT / "physics").glob("*/*.kernel")
                  if path.parent.name not in ("calibration", "forcing", "waves", "momentum", "external"))


class Build(rfm.CompileOnlyRegressionTest):
    """The program of the environment's preset, built where ReFrame runs if it is not there yet."""

    build_system = "CustomBuild"

    @run_before("compile")
    def choose_preset(self):
        preset = self.current_environ.name
        self.program = ROOT / "build" / preset / "bin" / "miniapp"
        self.build_system.commands = [
            f"cd {ROOT}",
            f"test -x {self.program} || {{ cmake --preset {preset} && cmake --build --preset {preset}; }}"]

    @sanity_function
    def is_there(self):
        return sn.assert_true(self.program.exists(), f"there is no {self.program}")


@rfm.simple_test
class KernelCheck(rfm.RunOnlyRegressionTest):
    """One kernel on the stored grid: compared with the stored reference, and timed."""

    build = fixture(Build, scope="environment")
    device = parameter(["cpu", "gpu"])
    kernel = parameter(kernels())
    reference_file = variable(str, value=str(ROOT / "validation" / "stored" / "grid"))
    program = variable(str, value="")  # of another build than the environment's
    variant = variable(str, value="")  # of the directives, as `-S KernelCheck.variant=dynamic`; "": the default one
    seconds = variable(float, value=1.0)  # of measuring, for each row
    valid_prog_environs = ["*"]

    @run_after("init")
    def choose_systems(self):
        self.descr = f"{self.kernel} on a {self.device}"
        self.valid_systems = [f"+{self.device}"]
        self.tags = {self.device, self.kernel}

    @run_after("setup")
    def choose_program(self):
        self.executable = self.program or str(self.build.program)
        self.executable_opts = [
            "--kernel", self.kernel, "--device", self.device, "--roofline",
            "--seconds", str(self.seconds), "--format", "json", "--validate", self.reference_file,
            *(["--variant", self.variant] if self.variant else []), str(ROOT / "inputs" / "grid.h5")]

    @run_after("setup")
    def ask_for_resources(self):
        cpus = self.current_partition.extras.get("cpus")
        if cpus:
            self.num_cpus_per_task = cpus
            self.env_vars["OMP_NUM_THREADS"] = cpus
        if self.device == "gpu":
            self.extra_resources = {"gpu": {"count": 1}}

    def printed(self):
        return (Path(self.stagedir) / str(self.stdout)).read_text()

    @run_before("performance")
    def read_row(self):
        if self.is_dry_run():
            return  # nothing was printed
        rows = json.loads(self.printed())["results"]
        self.row = next(row for row in rows if row["kernel"] == self.kernel)

    @run_before("performance")
    def expect_share(self):
        share = self.current_partition.extras.get("share", {}).get(self.kernel)
        if share and not UNSURE.intersection(self.row["marks"].split()):
            self.reference = {"*": {"share": (share, -0.2, None, "")}}

    @sanity_function
    def every_output_agrees(self):
        text = self.printed()
        checks = json.loads(text)["validation"] if text else []
        failed = [check["variable"] for check in checks if not check["passed"]]
        return sn.all([sn.assert_true(checks, "nothing was compared"),
                       sn.assert_false(failed, f"differ from the reference: {failed}")])

    @performance_function("ns")
    def ns_per_point(self):
        return self.row["ns_per_point"]

    @performance_function("GB/s")
    def gb_per_s(self):
        return self.row["gb_per_s"]

    @performance_function("")
    def share(self):
        share = self.row["best_share"]
        return 1.0 if share is None else share  # None: it was faster than its ceiling
