"""Snapshots on the way, and runs that continue from one: whatever ended them, in the same bits."""

import json
import os
import pty
import re
import resource
import signal

import h5py
import numpy as np
import pytest

from conftest import DONE, GRID, HERE, INPUT, MISMATCH, OUTPUT, USAGE, assert_one_line, read, replace
from oceans import Frozen
from processes import FullPipe, read_to_the_end
from test_output import unfinished
from test_results import overflow

pytestmark = pytest.mark.every_gpu  # where a device is emulated, what is asked of a file is the host's

SEQUENCE = "ocean_step_eke"
EVER = 10**6  # more steps than any test waits for
CARRIED = ("temp", "salt", "tke", "eke", "dtemp_taum1", "dsalt_taum1", "dtke_taum1", "deke_taum1")


class March:
    """Steps of an ocean, in a folder of their own."""

    def __init__(self, miniapp, folder, device, ocean):
        self.miniapp, self.folder, self.device, self.ocean = miniapp, folder, device, ocean
        self.end = folder / "end.nc"

    def words(self, steps, *more, every=5, output=None):
        return (self.ocean, "-k", SEQUENCE, "-d", self.device, "--steps", steps, "--every", every,
                "-o", output or self.end, *more)

    def passes(self, steps, *more, **options):
        return self.miniapp.passes(*self.words(steps, *more, **options), quick=False)

    def snapshots(self):
        """Their steps."""
        names = [path.name for path in self.folder.glob("end.[0-9]*.nc")]
        return sorted(int(re.fullmatch(r"end\.(\d{6,})\.nc", name)[1]) for name in names)

    def snapshot(self, step):
        return self.folder / f"end.{step:06}.nc"

    @property
    def state(self):
        """Beside snapshots of chosen fields."""
        return self.folder / "end.state.nc"

    def assert_end_is_that_of(self, steps):
        """The bits of a run that nothing disturbed."""
        whole = self.folder / "whole" / "end.nc"
        whole.parent.mkdir()
        self.passes(steps, output=whole)
        with h5py.File(self.end) as ours, h5py.File(whole) as theirs:
            assert set(CARRIED) < set(ours)
            for name, values in theirs.items():
                assert values[...].tobytes() == ours[name][...].tobytes(), name


@pytest.fixture
def march(miniapp, tmp_path, device):
    """On a small ocean: what is kept and read again does not depend on how much it is."""
    return March(miniapp, tmp_path, device, Frozen("global", tmp_path).path)


@pytest.fixture(scope="module")
def made():
    """Files of runs that tests share."""
    return {}


@pytest.fixture
def stopped(march, made):
    """A march after 5 steps, with a snapshot: one run for all tests of a device."""
    if march.device not in made:
        march.passes(5)
        made[march.device] = {path.name: path.read_bytes() for path in march.folder.iterdir()}
    for name, content in made[march.device].items():
        (march.folder / name).write_bytes(content)
    return march


@pytest.fixture
def march_on_the_grid(miniapp, tmp_path, device):
    """On the shipped one, which has coordinates, and the land of the earth."""
    return March(miniapp, tmp_path, device, GRID)


# ---- snapshots ----

@pytest.mark.every_device
def test_snapshots(march_on_the_grid):
    """In Veros's layout: on time, depth, latitude and longitude, without ghosts, land missing."""
    march_on_the_grid.passes(7, every=3)
    assert march_on_the_grid.snapshots() == [3, 6]
    with h5py.File(march_on_the_grid.snapshot(6)) as file, h5py.File(GRID) as grid:
        water = grid["maskT"][...] == 1
        temp = file["temp"]
        assert [temp.dims[axis][0].name for axis in range(4)] == ["/Time", "/zt", "/yt", "/xt"]
        assert file["tke"].dims[1][0].name == "/zw"
        assert temp.shape == (1, *water.shape) and temp.maxshape[0] is None
        assert temp.attrs["_FillValue"] == temp.attrs["missing_value"] == -1e18
        assert (temp[0][~water] == -1e18).all() and (np.abs(temp[0][water]) < 40).all()
        for ours, theirs in (("xt", "x"), ("yt", "y"), ("zt", "zt"), ("zw", "zw")):
            np.testing.assert_array_equal(file[ours], grid[theirs])
        assert file["Time"][0] == 6 * grid.attrs["dt_tracer"] / 86400
        assert file["Time"].attrs["units"] == b"days" and file.attrs["itt"] == 6
        settings = json.loads(file.attrs["setup_settings"])
        assert settings["dt_tracer"] == grid.attrs["dt_tracer"]
        assert {"git_commit", "command_line", "input_sha256"} < set(file.attrs)
    with h5py.File(march_on_the_grid.end) as file:
        assert file.attrs["itt"] == 7


def test_xarray_reads_them(march_on_the_grid):
    xarray = pytest.importorskip("xarray")
    march_on_the_grid.passes(2, every=2)
    with xarray.open_dataset(march_on_the_grid.snapshot(2)) as snapshot:
        assert snapshot.temp.dims == ("Time", "zt", "yt", "xt")
        assert int(snapshot.temp.notnull().sum()) == int(read(GRID, "maskT").sum())


def test_axes_without_coordinates(miniapp, tmp_path):
    """They are distances."""
    frozen = Frozen("acc", tmp_path)
    frozen.step(miniapp, tmp_path / "end.nc", 1, "--every", 1)
    widths = frozen.before["dxt"][2:-2]
    np.testing.assert_allclose(read(tmp_path / "end.000001.nc", "xt"), widths.cumsum() - widths / 2)


@pytest.mark.every_device
def test_snapshots_in_float32(march):
    march.passes(2, "--precision", "float32", every=1)
    assert read(march.snapshot(1), "temp").dtype == np.float32
    march.end.unlink()
    march.passes(2, "--precision", "float32", "--restart", every=1)
    march.miniapp.fails(INPUT, "made with precision=float32, but this run has precision=float64$",
                        *march.words(2, "--restart"), quick=False)


# ---- going on ----

def test_snapshots_of_later_steps_alone(march):
    """They are another run's."""
    march.passes(6)
    done = march.miniapp.run(*march.words(3, "--restart"))
    assert done.returncode == 0 and done.stderr == (
        "miniapp: warning: --restart starts from the input: there is a snapshot of step 5, but none of a "
        "step before 3\n"), done


def test_nothing_to_go_on_from(march):
    """It starts, so that a job that is queued again needs no other command."""
    march.passes(6, "--restart")
    assert march.snapshots() == [5]
    march.assert_end_is_that_of(6)


@pytest.fixture(params=["ghosts", "no_ghosts"])
def march_with_and_without_ghosts(request, march):
    """The ocean's file has ghosts, or it has none and the program adds them."""
    if request.param == "no_ghosts":
        Frozen("global", march.folder).write_without_ghosts(march.ocean)
    return march


@pytest.mark.every_device
def test_a_run_that_goes_on(march_with_and_without_ghosts):
    march = march_with_and_without_ghosts
    march.passes(6)
    result = json.loads(march.passes(14, "--restart", "--format", "json"))["results"][0]
    assert (result["calls"], result["steps"]["first"], result["steps"]["last"]) == (9, 5, 14)
    assert march.snapshots() == [5, 10]
    march.assert_end_is_that_of(14)


def test_a_run_that_was_done(march):
    """Its last steps are made again."""
    march.passes(10)
    march.end.unlink()
    march.passes(10, "--restart")
    march.assert_end_is_that_of(10)


def test_other_files_are_no_snapshots(march):
    for name in ("end.nc.000009.nc", "end.9x.nc", "end..nc", "end.-00009.nc", "end.000009.h5",
                 "end.99999999999999999999999.nc", "end.000000.nc", "end.5.nc", "end.0000005.nc"):
        (march.folder / name).write_text("no snapshot")
    march.passes(6, "--restart")
    march.assert_end_is_that_of(6)


# ---- chosen fields ----

CHOSEN = "temp,mxl,forc_temp_surface,dye"
DYE = ("--tracer", "dye=salt")


def bits(path):
    with h5py.File(path) as file:
        return {name: values[...].tobytes() for name, values in file.items()}


@pytest.mark.every_device
def test_chosen_fields(march):
    """Snapshots have no others, `mxl` among them, which no restart needs; what was cut ends in the same bits."""
    march.passes(8, *DYE, "--average", f"1:{CHOSEN}", every=2)
    whole = {step: bits(march.snapshot(step)) for step in march.snapshots()}
    end = bits(march.end)
    for step in whole:
        march.snapshot(step).unlink()
    march.passes(5, *DYE, every=f"2:{CHOSEN}")
    march.passes(8, *DYE, "--restart", every=f"2:{CHOSEN}")
    assert bits(march.end) == end and bits(march.state) == whole[6]
    for step in march.snapshots():
        chosen = bits(march.snapshot(step))
        assert set(chosen) == {"Time", "xt", "yt", "zt", "zw", *CHOSEN.split(",")}
        assert all(whole[step][name] == chosen[name] for name in set(whole[step]) & set(chosen))
        assert chosen == bits(march.folder / f"end.average.{step:06}.nc")


def test_a_kill_between_chosen_fields_and_the_state(march):
    """Before there is one, too: the steps are made again, from the input if a warning says so."""
    march.passes(3, every="2:temp")
    state = march.state.read_bytes()
    march.passes(5, every="2:temp")
    march.state.write_bytes(state)
    words = march.words(5, "--restart", "--format", "json", every="2:temp")
    warning = r"the snapshot of step 4 has chosen fields only, and there is no \S+/end\.state\.nc of a step before 5$"
    for first, warned in ((2, None), (0, warning)):
        said = json.loads(march.miniapp.passes(*words, warning=warned, quick=False))
        assert said["results"][0]["steps"]["first"] == first
        march.state.unlink()
    march.assert_end_is_that_of(5)


def test_chosen_fields_now_and_then(march):
    """A run goes on from the newest of both kinds."""
    march.passes(3, every="2:temp")
    for last, first, every in ((6, 2, 2), (10, 6, "3:salt"), (11, 9, 5)):
        said = json.loads(march.passes(last, "--restart", "--format", "json", every=every))
        assert said["results"][0]["steps"]["first"] == first
    march.assert_end_is_that_of(11)


def test_a_signal_keeps_the_state_beside_chosen_fields(march):
    with march.miniapp.start(*march.words(EVER, every="5:temp")) as process:
        process.wait_for(march.snapshot(5).exists)
        process.send_signal(signal.SIGTERM)
        process.finish()
    last = int(re.search(r"--restart continues from the snapshot of step (\d+)\n", process.said())[1])
    with h5py.File(march.state) as file:
        assert file.attrs["itt"] == last
    assert all(step % 5 == 0 for step in march.snapshots()) and not unfinished(march.folder)
    march.passes(last + 2, "--restart", every="5:temp")
    march.assert_end_is_that_of(last + 2)


def test_a_state_from_which_no_run_continues(march):
    march.passes(3, every="2:temp")
    with h5py.File(march.state, "a") as file:
        file.attrs["itt"] = np.nan
    march.miniapp.fails(INPUT, r"end\.state\.nc: cannot continue from it: its 'itt' is nan$",
                        *march.words(9, "--restart"), quick=False)
    march.state.unlink()
    march.state.mkdir()
    march.miniapp.fails(OUTPUT, r"end\.state\.nc: ", *march.words(9, every="2:temp"), quick=False)


# ---- what ends a run ----

@pytest.mark.every_device
@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1])
def test_signals_lose_nothing(march, number):
    """The step that they came in is kept."""
    with march.miniapp.start(*march.words(EVER)) as process:
        process.wait_for(march.snapshot(5).exists)
        process.send_signal(number)
        process.finish()
    last = march.snapshots()[-1]
    assert process.returncode == 128 + (signal.SIGTERM if number == signal.SIGUSR1 else number)
    assert f"--restart continues from the snapshot of step {last}\n" in process.said()
    assert not march.end.exists() and not unfinished(march.folder)
    march.passes(last + 7, "--restart")
    march.assert_end_is_that_of(last + 7)


@pytest.mark.every_device
@pytest.mark.parametrize("every", [1, "1:temp"])
def test_a_kill_loses_what_came_after_the_last(march, every):
    with march.miniapp.start(*march.words(EVER, every=every)) as process:
        process.wait_for(march.snapshot(3).exists)
        process.kill()
        process.wait()
    last = march.snapshots()[-1]
    march.passes(last + 2, "--restart", every=every)
    assert not unfinished(march.folder)
    march.assert_end_is_that_of(last + 2)


def test_a_full_disk_loses_what_came_after_the_last(march):
    """It fills up after the first snapshot: from then on no file may have the size of one."""
    with march.miniapp.start(*march.words(EVER)) as process:
        process.wait_for(march.snapshot(5).exists)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (2**15, 2**15))
        _, message = process.finish()
    last = march.snapshots()[-1]
    assert process.returncode == OUTPUT
    assert_one_line(message)
    assert f"end.{last + 5:06}.nc: cannot be written" in message and not unfinished(march.folder)
    march.passes(last + 6, "--restart")
    march.assert_end_is_that_of(last + 6)


def hold(process):
    process.send_signal(signal.SIGSTOP)
    process.wait_for(process.is_stopped)


def test_no_room_for_coordinates(miniapp, device, tmp_path):
    """HDF5 1.10 crashes where it copies them into a file that may not have a page."""
    end = tmp_path / "end.nc"
    with miniapp.start(HERE.parent / "inputs/acc_rest.h5", "-d", device, "--steps", EVER, "--every", 20,
                       "-o", end) as process:
        process.wait_for((tmp_path / "end.000020.nc").exists)
        hold(process)
        while unfinished(end):  # not in the midst of a snapshot
            process.send_signal(signal.SIGCONT)
            hold(process)
        resource.prlimit(process.pid, resource.RLIMIT_FSIZE, (1024, 1024))
        process.send_signal(signal.SIGCONT)
        _, message = process.finish()
    assert process.returncode == OUTPUT
    assert_one_line(message)
    assert "cannot be written: File too large" in message and not unfinished(end)


@pytest.mark.parametrize("last, said", [(1, "starts from the input"), (2, "continues from the snapshot of step 1")])
def test_a_signal_in_the_last_step(march, last, said):
    """That step is made again, so that its own snapshot is not gone on from. After it, the run waits until
    stderr takes more than the line about the clock."""
    if last > 1:
        march.passes(last - 1, every=1)
        march.end.unlink()
    words = march.words(last, "--restart", every=1)
    stderr = FullPipe(room=100)
    with march.miniapp.start(*words, stderr=stderr.writer) as process:
        process.wait_for(march.snapshot(last).exists)
        process.send_signal(signal.SIGTERM)
        message = stderr.empty()
        process.wait()
    assert process.returncode == 128 + signal.SIGTERM
    assert message == f"miniapp: warning: ended by SIGTERM: --restart {said}\n"
    assert march.snapshots() == list(range(1, last + 1)) and not march.end.exists()
    march.passes(last, "--restart", every=1)
    march.assert_end_is_that_of(last)


# ---- what cannot be gone on from ----

def assert_another(march, difference, *words, sequence=SEQUENCE):
    words = [sequence if word == SEQUENCE else word for word in march.words(9, "--restart", *words)]
    march.miniapp.fails(INPUT, r"end\.000005\.nc: cannot continue from it: it was made with " + difference, *words,
                        quick=False)


def test_another_setting(march):
    march.passes(5, "--set", "kappaH_min=0")
    assert_another(march, "kappaH_min=0, but this run has kappaH_min=10$", "--set", "kappaH_min=10")


def test_another_last_digit(march):
    march.passes(5, "--set", "AB_eps=0.1")
    assert_another(march, "AB_eps=0.1, but this run has AB_eps=0.10000000000000002$", "--set",
                   "AB_eps=0.10000000000000002")


def test_several_other_settings(march):
    """The first is named, in the order of the provenance."""
    march.passes(5, "--set", "c_k=0.2", "--set", "c_eps=0.6")
    first = "c_eps=0.6, but this run has c_eps=0.7; "
    assert_another(march, first + "1 more differs$")
    assert_another(march, first + "2 more differ$", "--set", "alpha_eke=2")


@pytest.mark.parametrize("change, difference", [
    (lambda text: text.replace("t_ice=", "t_melt="), "t_melt=-1000, but this run has no t_melt; 1 more differs$"),
    (lambda text: text.replace("t_ice=-1000 ", ""), "no t_ice, but this run has t_ice=-1000$")])
def test_settings_of_another_program(stopped, change, difference):
    with h5py.File(stopped.snapshot(5), "a") as file:
        file.attrs["settings"] = change(file.attrs["settings"].decode())
    assert_another(stopped, difference)


def test_another_sequence_or_precision(stopped):
    assert_another(stopped, "sequence=ocean_step_eke, but this run has sequence=ocean_step_forced; 1 more differs$",
                   "--precision", "float32", sequence="ocean_step_forced")


def test_another_input(stopped):
    """Of the same name, which tells nothing without its SHA-256."""
    with h5py.File(stopped.ocean, "a") as file:
        file["temp"][...] += 0.5
    said = r"input_sha256=[0-9a-f]{64} of \S*\.h5"
    assert_another(stopped, f"{said}, but this run has {said}$")


def test_a_tracer_that_starts_as_another_dataset(march):
    with h5py.File(march.ocean, "a") as file:
        file["dye"] = file["temp"][...]
    march.passes(5, "--tracer", "dye=salt")
    assert_another(march, "tracers_start_as=dye=salt, but this run has no tracers_start_as$", "--tracer", "dye")


def test_what_does_not_say_of_what_run_it_is(stopped):
    with h5py.File(stopped.snapshot(5), "a") as file:
        del file.attrs["sequence"]
    assert_another(stopped, "no sequence, but this run has sequence=ocean_step_eke$")


def cut(path):
    path.write_bytes(path.read_bytes()[:-1000])


def turn_bits(path):
    with h5py.File(path) as file:
        chunk = file["temp"].id.get_chunk_info(0)
    content = bytearray(path.read_bytes())
    content[chunk.byte_offset + chunk.size // 2] ^= 255
    path.write_bytes(content)


def lose_a_field(path):
    with h5py.File(path, "a") as file:
        del file["salt"]


def change_a_shape(path):
    with h5py.File(path, "a") as file:
        values = file["salt"][...]
        del file["salt"]
        file["salt"] = values[..., 1:]


def write_nothing(path):
    with h5py.File(path, "a") as file:
        shape = file["salt"].shape
        del file["salt"]
        file.create_dataset("salt", shape, float, chunks=(1, 1, *shape[2:]))


def leave_out_a_level(path):
    write_nothing(path)
    with h5py.File(path, "a") as file:
        file["salt"][:, :-1] = 35.0


def store_integers(path):
    replace(path, "salt", np.zeros_like(read(path, "salt"), dtype="i2"))


def pack(path):
    with h5py.File(path, "a") as file:
        file["salt"].attrs["scale_factor"] = 1e-3


def pack_by_offset(path):
    with h5py.File(path, "a") as file:
        file["salt"].attrs["add_offset"] = 35.0


def rename_step(path):
    with h5py.File(path, "a") as file:
        file.attrs["itt"] = 4.0


def store_settings_as_a_number(path):
    with h5py.File(path, "a") as file:
        file.attrs["settings"] = 1.0


def lose_the_step(path):
    with h5py.File(path, "a") as file:
        del file.attrs["itt"]


def write_nan(path):
    with h5py.File(path, "a") as file:
        file["temp"][0, 1, 5, 4] = np.nan


def leave_the_ocean(path):
    with h5py.File(path, "a") as file:
        file["temp"][0, 1, 5, 4] = 1e5


@pytest.mark.parametrize("damage, complaint", [
    (write_nan, r"cannot continue from it: temp\[1, \d+, \d+\] is nan after step 5"),
    (leave_the_ocean, r"cannot continue from it: temp\[1, \d+, \d+\] is 100000 after step 5"),
    (cut, "a damaged one"), (turn_bits, "'temp' cannot be read"), (lose_a_field, "'salt' cannot be opened"),
    (change_a_shape, "'salt' has another shape"), (write_nothing, "dataset 'salt' was never written, or not all of it"),
    (leave_out_a_level, "dataset 'salt' was never written, or not all of it"),
    (store_integers, "'salt' has no floating-point numbers"), (pack, "'salt' is packed"),
    (pack_by_offset, "'salt' is packed"), (rename_step, "its 'itt' is 4, not 5"),
    (lose_the_step, "its 'itt' is nan, not 5"), (store_settings_as_a_number, "its 'settings' is no text")])
def test_damaged(stopped, damage, complaint):
    damage(stopped.snapshot(5))
    stopped.miniapp.fails(INPUT, r"end\.000005\.nc: .*" + complaint, *stopped.words(9, "--restart"), quick=False)


@pytest.mark.parametrize("words, complaint", [
    (("--every", 5), "--every needs --steps and --output"),
    (("--every", 5, "--steps", 10), "--every needs --steps and --output"),
    (("--restart", "--steps", 10, "-o", "end.nc"), "give --every"),
    (("--every", "5:" + 1024 * "psi,", "--steps", 10, "-o", "end.nc"), "takes at most 4095 characters"),
    (("--every", 0, "--steps", 10, "-o", "end.nc"), "--every takes a whole number")])
def test_what_they_need(miniapp, words, complaint):
    miniapp.fails(USAGE, complaint, GRID, *words, quick=False)


def test_a_snapshot_is_not_the_input(march):
    """Which would be replaced."""
    path = march.snapshot(5)
    content = march.ocean.read_bytes()
    path.write_bytes(content)
    march.miniapp.fails(USAGE, "is a file that is read", path, *march.words(6)[1:], quick=False)
    assert path.read_bytes() == content


def in_the_way(path, ocean, how):
    if how == "folder":
        path.mkdir()
    elif how == "link to the input":
        path.symlink_to(ocean)
    else:
        path.write_text("not to be replaced")
        path.chmod(0o444)


@pytest.mark.parametrize("how, code, complaint", [
    ("folder", OUTPUT, "end.000100.nc: "), ("link to the input", USAGE, "is a file that is read"),
    ("read-only", OUTPUT, "end.000100.nc: ")])
def test_a_target_in_the_way_is_found_before_the_first_step(march, how, code, complaint):
    in_the_way(march.snapshot(100), march.ocean, how)
    march.miniapp.fails(code, complaint, *march.words(100, every=50), quick=False)
    assert march.snapshots() == [100]
    march.miniapp.passes(*march.words(90, every=50), quick=False, warning=".*snapshots of an earlier run")


def test_the_state_of_an_earlier_run_is_named(march):
    """--restart would find it."""
    march.passes(3, every="2:temp")
    march.miniapp.passes(*march.words(3, every=2), quick=False, warning=r"end\.state\.nc: snapshots of an earlier run")
    march.passes(3, every="2:temp")


def test_snapshots_of_an_earlier_run_are_named(march):
    """They would be read as one series with those of this run."""
    march.passes(15)
    done = march.miniapp.run(*march.words(5, "--set", "AB_eps=0.2"))
    assert done.returncode == DONE and re.fullmatch(
        r"miniapp: warning: \S*end\.000010\.nc and 1 more of its name: snapshots of an earlier run, which this run "
        "does not replace: remove them before you read a series\n", done.stderr), done
    done = march.miniapp.run(*march.words(15))
    assert done.returncode == DONE and not done.stderr


# ---- where it goes wrong ----

# steps so long that the ocean blows up, after 17 of them
UNSTABLE = ("--set", "dt_tracer=3e6", "--set", "AB_eps=10", "-t", 1, "--allow-invalid")


@pytest.mark.every_device
def test_the_first_step_that_is_not_finite(march):
    """It is found with snapshots and without, and is the first."""
    def fails(*words):
        error = march.miniapp.fails(MISMATCH, r"\w+\[\d+, \d+, \d+\] is -?(nan|inf) after step \d+ in "
                                    + SEQUENCE, *words, quick=False)
        return int(re.search(r"after step (\d+) ", error)[1]), error

    first, said = fails(*march.words(40, *UNSTABLE, every=9))
    assert max(march.snapshots()) == (first - 1) // 9 * 9 and not march.end.exists()
    plain = (march.ocean, "-k", SEQUENCE, "-d", march.device, *UNSTABLE)
    assert fails(*plain, "--steps", 40) == (first, said)
    assert fails(*plain, "--steps", first)[0] == first
    done = march.miniapp.run(*plain, "--steps", first - 1)
    assert "finite" not in done.stderr


@pytest.mark.every_device
def test_all_fields_that_are_not_finite_are_named(march):
    """Of two whose names are one within the other, too, or within the sequence's name."""
    overflow(march.ocean)
    said = march.miniapp.fails(MISMATCH, " after step 1 ", *march.words(1, "--allow-invalid", "--allow-divergent"),
                               quick=False)
    march.miniapp.run(*march.words(1, "--allow-nonfinite", "--allow-divergent"))
    with h5py.File(march.end) as file:
        bad = {name for name in CARRIED if not np.isfinite(file[name][...]).all()}
    assert "eke" in bad
    listed = re.search(r"; so are ([\w, ]+) \(", said)[1].split(", ")
    assert sorted([re.search(r"are: (\w+)\[", said)[1], *listed]) == sorted(bad)


@pytest.mark.every_device
def test_steps_that_leave_the_ocean(march):
    """However finite they are: neither that nor later states become snapshots."""
    words = [word for word in UNSTABLE if word != "--allow-invalid"]
    said = march.miniapp.fails(MISMATCH, "steps lead beyond the limits of an ocean: ",
                               *march.words(40, *words, every=1), quick=False)
    found = re.search(r"(temp|salt|tke|eke)\[\d+, \d+, \d+\] is (-?[\d.e+]+) after step (\d+) in .* on .* in float64, "
                      r"with Courant numbers [\d.]+, [\d.]+ and [\d.]+", said)
    assert "(shorter steps may help: --set dt_tracer=SECONDS" in said
    least, most = {"temp": (-50, 100), "salt": (-5, 100)}.get(found[1], (-1000, 1000))
    assert not least <= float(found[2]) <= most
    assert max(march.snapshots(), default=0) == int(found[3]) - 1 and not march.end.exists()


def wait_for_step(leader, step):
    """Reads a terminal until it shows that step, or a later one."""
    seen = ""
    while not any(int(found) >= step for found in re.findall(r"step (\d+) of", seen)):
        seen = seen[-100:] + os.read(leader, 4096).decode()


def test_a_signal_in_an_unstable_run(march):
    """The last good snapshot stays the newest one, so that the first bad step can still be found."""
    march.miniapp.run(*march.words(15, *UNSTABLE, every=15))
    leader, follower = pty.openpty()
    words = march.words(EVER, *UNSTABLE, "--restart", every=EVER - 1)
    with march.miniapp.start(*words, stderr=follower) as process:
        os.close(follower)
        wait_for_step(leader, 40)
        process.send_signal(signal.SIGTERM)
        said = read_to_the_end(leader)
        process.wait()
    assert process.returncode == 128 + signal.SIGTERM
    assert re.search(r"ended by SIGTERM, when \w+\[\d+, \d+, \d+\] is -?(nan|inf) after step \d+ in .*: "
                     "--restart continues from the snapshot of step 15\r\n", said), said
    assert march.snapshots() == [15]


def test_an_unstable_run_that_is_accepted(march):
    done = march.miniapp.run(*march.words(40, *UNSTABLE, "--allow-nonfinite"))
    assert done.returncode in (DONE, MISMATCH) and "finite" not in done.stderr
    if done.stderr:
        assert_one_line(done.stderr)
