"""One invented ocean in the layouts of many producers, from memory of what their files look like.

Temperature, salinity and land are functions of the place, so that whoever reads a layout can be asked
for the truth at each of its points.
"""

import dataclasses

import gsw
import numpy as np
import xarray

LON, LAT = np.arange(10.0, 361, 20), np.arange(-60.0, 61, 15)
DEPTH = np.array([5.0, 20, 50, 110, 220, 400])
NAMES = {"temp": {"in-situ": "sea_water_temperature", "potential": "sea_water_potential_temperature",
                  "conservative": "sea_water_conservative_temperature"},
         "salt": {"practical": "sea_water_practical_salinity", "absolute": "sea_water_absolute_salinity"}}
LON_EAST = {"units": "degrees_east", "standard_name": "longitude"}
LAT_NORTH = {"units": "degrees_north", "standard_name": "latitude"}
DOWN = {"units": "m", "positive": "down", "standard_name": "depth"}


# ---- the ocean ----

def temperature(depth, lat, lon):
    return 3 + 18 * np.exp(-depth / 300) * np.cos(np.radians(lat)) + np.sin(np.radians(lon + lat + 7))


def salinity(depth, lat, lon):
    return 35 + 0.5 * np.exp(-depth / 200) * np.cos(np.radians(2 * lat)) + 0.2 * np.cos(np.radians(lon))


def is_wet(depth, lat, lon):
    """A continent in the north, another one of a single column, and a rise of the sea floor."""
    lon = lon % 360
    land = ((lon > 40) & (lon < 80) & (lat > -30)) | ((lon == 250) & (lat == -15))
    return ~land & ~((depth > 200) & (lon > 150) & (lon < 200))


def grid_of(lon, lat, depth):
    return np.meshgrid(depth, lat, lon, indexing="ij")


def truth(lon, lat, depth, kinds, warmer):
    """Conservative Temperature, Absolute Salinity and water at the points of a grid."""
    depth, lat, lon = grid_of(lon, lat, depth)
    temp, salt = temperature(depth, lat, lon) + warmer, salinity(depth, lat, lon)
    p = gsw.p_from_z(-depth, lat)
    if kinds[1] == "practical":
        salt = gsw.SA_from_SP(salt, p, lon % 360, lat)
    if kinds[0] != "conservative":
        temp = gsw.CT_from_pt(salt, temp) if kinds[0] == "potential" else gsw.CT_from_t(salt, temp, p)
    return temp, salt, is_wet(depth, lat, lon)


def ocean(names=("thetao", "so"), dims=("depth", "lat", "lon"), points=(DEPTH, LAT, LON),
          attributes=(DOWN, LAT_NORTH, LON_EAST), fields=None, land=np.nan, kinds=("potential", "practical"),
          units=("degC", "1")):
    """A dataset; `land` is what stands there. Depths may be heights; `fields` are the attributes."""
    depth, lat, lon = grid_of(points[2], points[1], np.abs(points[0]))
    values = [np.where(is_wet(depth, lat, lon), function(depth, lat, lon), land)
              for function in (temperature, salinity)]
    fields = fields or [{"standard_name": NAMES[ours][kind], "units": unit}
                        for ours, kind, unit in zip(NAMES, kinds, units)]
    return xarray.Dataset(
        {name: (dims, data.astype("f4"), dict(more)) for name, data, more in zip(names, values, fields)},
        {dim: (dim, data, dict(more)) for dim, data, more in zip(dims, points, attributes)})


def wet(points=(DEPTH, LAT, LON)):
    depth, lat, lon = grid_of(points[2], points[1], np.abs(points[0]))
    return is_wet(depth, lat, lon)


def at_times(dataset, name, times, units, **attributes):
    """The same at several times, warmer by a degree in each but the first."""
    data = xarray.concat([dataset + 0 for _ in times], name)
    for field in dataset.data_vars:
        data[field].attrs = dataset[field].attrs
    for axis in dataset.coords:
        data[axis].attrs = dataset[axis].attrs
    first = str(next(iter(dataset.data_vars)))
    data[first].values += np.arange(len(times), dtype="f4")[(...,) + (None,) * (data[first].ndim - 1)]
    return data.assign_coords({name: (name, times, {"units": units, **attributes})})


def packed(dataset, scale=0.001, offset=20.0, fill=-32767):
    for name in dataset.data_vars:
        dataset[name].encoding = {"dtype": "i2", "scale_factor": scale, "add_offset": offset,
                                  "_FillValue": np.int16(fill)}
    return dataset


def on_plane(dataset, names, lon, lat, dims=("y", "x"), declared=True):
    """2-D longitudes and latitudes in place of the axes lat and lon."""
    data = dataset.rename(lat=dims[0], lon=dims[1]).drop_vars(dims)
    data = data.assign({names[0]: (dims, lon, LON_EAST), names[1]: (dims, lat, LAT_NORTH)})
    for name in dataset.data_vars if declared else ():
        data[name].encoding["coordinates"] = " ".join(names)
    return data


def plane():
    return np.meshgrid(LON, LAT)


# ---- the layouts ----

@dataclasses.dataclass
class Layout:
    """Files by name, what else the command line has, and what temperature and salinity are."""
    files: object
    arguments: tuple = ()
    kinds: tuple = ("potential", "practical")
    points: tuple = (DEPTH, LAT, LON)
    tolerance: float = 1e-4
    form: str = "NETCDF4"
    said: str = ""
    warmer: float = 0  # than the first record


READ, REFUSED = {}, {}


def layout(name, *arguments, **more):
    def keep(files):
        READ[name] = Layout(files, arguments, **more)
        return files
    return keep


def refused(name, pattern, *arguments):
    def keep(files):
        REFUSED[name] = pattern, Layout(files, arguments)
        return files
    return keep


@layout("World Ocean Atlas", kinds=("in-situ", "practical"), said="'t_an', in-situ temperature")
def world_ocean_atlas():
    files = {}
    for letter, name, ours, units in (("t", "thetao", "temp", "degrees_celsius"), ("s", "so", "salt", "1")):
        analysed = ocean(kinds=("in-situ", "practical"))[name]
        data = xarray.Dataset({f"{letter}_an": analysed, f"{letter}_mn": analysed.where(analysed.lon > 100),
                               f"{letter}_dd": analysed * 0 + 3}).expand_dims("time")
        for statistic in data:
            data[statistic].attrs = {"standard_name": next(iter(NAMES[ours].values())), "units": units}
        data = data.assign_coords(time=("time", np.array([372.5], "f4"), {
            "units": "months since 1955-01-01 00:00:00", "climatology": "climatology_bounds"}))
        data["climatology_bounds"] = ("time", "nbounds"), np.array([[0.0, 404]])
        data["depth_bnds"] = ("depth", "nbounds"), np.stack([DEPTH - 2, DEPTH + 2], 1)
        data["crs"] = ((), np.int32(0))
        files[f"{letter}.nc"] = data
    return files


@layout("EN4", said="turned from kelvin")
def en4():
    data = ocean(("temperature", "salinity"), units=("kelvin", "1"))
    data["temperature"].values += np.float32(273.15)
    data["depth_bnds"] = ("depth", "bnds"), np.stack([DEPTH - 2, DEPTH + 2], 1)
    data.depth.attrs["bounds"] = "depth_bnds"
    return {"en4.nc": at_times(data, "time", [54771.5], "days since 1800-01-01", calendar="standard")}


def nemo(land=0.0):
    data = ocean(("votemper", "vosaline"), ("deptht", "lat", "lon"), units=("degC", "1e-3"), land=land)
    return on_plane(data, ("nav_lon", "nav_lat"), *(one.astype("f4") for one in plane()))


def mesh_mask(time, level, **more):
    lon, lat = plane()
    one = np.newaxis
    return xarray.Dataset({
        "tmask": ((time, level, "y", "x"), wet()[one].astype("i1")),
        "umask": ((time, level, "y", "x"), wet()[one].astype("i1")),
        "glamt": ((time, "y", "x"), lon[one]), "gphit": ((time, "y", "x"), lat[one]),
        "glamf": ((time, "y", "x"), lon[one] + 10), "gphif": ((time, "y", "x"), lat[one] + 7.5), **more})


@layout("NEMO with mesh_mask", "--variable", "maskT=tmask")
def nemo_with_mesh_mask():
    grid_t = at_times(nemo(), "time_counter", [0.0], "seconds since 1900-01-01 00:00:00")
    return {"grid_T.nc": grid_t, "mesh_mask.nc": mesh_mask("t", "z", gdept_1d=(("t", "z"), DEPTH[None]))}


@layout("NEMO 4 with mesh_mask", "--variable", "maskT=tmask")
def nemo_4_with_mesh_mask():
    return {"grid_T.nc": nemo(), "mesh_mask.nc": mesh_mask(
        "time_counter", "nav_lev", nav_lev=("nav_lev", DEPTH), gdept_1d=(("time_counter", "nav_lev"),
                                                                        DEPTH[None]))}


@layout("NEMO with mesh_mask beside several records", "--variable", "maskT=tmask", "--time", "1", warmer=1)
def nemo_with_records():
    files = nemo_with_mesh_mask()
    return {**files, "grid_T.nc": at_times(nemo(), "time_counter", [0.0, 86400], "seconds since 1900-01-01")}


@layout("NEMO with numbers of levels in mesh_mask", "--variable", "maskT=tmask",
        said="axis 'nav_lev' of 'tmask' has no coordinate: taken to be 'deptht'")
def nemo_with_numbers_of_levels():
    return {"grid_T.nc": nemo(), "mesh_mask.nc": mesh_mask("time_counter", "nav_lev", nav_lev=(
        "nav_lev", np.arange(1.0, 7)))}


def without_processors(hole):
    """No coordinates where a block of the continent has no process."""
    lon, lat = plane()
    block = (lon > 40) & (lon < 80) & (lat > -30)
    data = nemo(land=np.nan)
    for name in ("nav_lon", "nav_lat"):
        data[name].values[block] = hole
    return {"grid_T.nc": data}


@layout("NEMO without land processors")
def nemo_without_land():
    return without_processors(np.nan)


@layout("NEMO with zeros for land processors")
def nemo_with_zeros():
    return without_processors(0)


@layout("NEMO without land processors in whole columns", points=(DEPTH, LAT[3:], LON),
        said="'nav_lon' is missing at 2 of 18 places")
def nemo_without_columns():
    return {"grid_T.nc": without_processors(np.nan)["grid_T.nc"].isel(y=slice(3, None))}


@layout("NEMO without land processors in the first columns", points=(DEPTH, LAT[3:], LON[2:]),
        said="'nav_lon' is missing at 2 of 16 places")
def nemo_without_first_columns():
    return {"grid_T.nc": without_processors(np.nan)["grid_T.nc"].isel(y=slice(3, None), x=slice(2, None))}


@layout("NEMO with coordinates in time")
def nemo_coordinates_in_time():
    data = nemo(np.nan)
    lon, lat = data.nav_lon, data.nav_lat
    data = at_times(data.drop_vars(["nav_lon", "nav_lat"]), "time_counter", [0.0], "seconds since 1900-01-01")
    return {"t.nc": data.assign(nav_lon=(("time_counter", "y", "x"), lon.values[None], LON_EAST),
                                nav_lat=(("time_counter", "y", "x"), lat.values[None], LAT_NORTH))}


def mitgcm():
    """As xmitgcm writes it."""
    names = [{"standard_name": "sea_water_potential_temperature", "units": "degree_Celcius"},
             {"standard_name": "sea_water_salinity", "units": "psu"}]
    data = ocean(("T", "S"), ("Z", "lat", "lon"), (-DEPTH, LAT, LON),
                 ({"standard_name": "depth", "units": "m", "positive": "down"}, LAT_NORTH, LON_EAST),
                 fields=names, land=0)
    data = on_plane(data, ("XC", "YC"), *plane(), dims=("j", "i"), declared=False)
    data = data.set_coords(["XC", "YC"]).assign_coords(Zc=("Z", -DEPTH, data.Z.attrs))
    data = data.drop_vars("Z").rename(Z="k").rename(Zc="Z")
    data = data.assign_coords(
        i=("i", np.arange(len(LON)), {"standard_name": "x_grid_index", "axis": "X"}),
        j=("j", np.arange(len(LAT)), {"standard_name": "y_grid_index", "axis": "Y"}),
        k=("k", np.arange(len(DEPTH)), {"standard_name": "z_grid_index", "axis": "Z"}))
    open_part = np.where(wet(), np.where(DEPTH[:, None, None] > 300, 0.3, 1), 0)
    return data.assign(hFacC=(("k", "j", "i"), open_part.astype("f4"), {"standard_name": "cell_vertical_fraction"}))


@layout("MITgcm by xmitgcm", "--variable", "maskT=hFacC",
        said="its values are negative: taken as heights")
def mitgcm_by_xmitgcm():
    return {"state.nc": at_times(mitgcm()[["T", "S"]], "time", [86400.0], "s", standard_name="time"),
            "grid.nc": mitgcm()[["hFacC"]]}


@layout("MITgcm by mnc", "--variable", "salt=S", "--temperature", "potential", "--salinity", "practical",
        form="NETCDF3_CLASSIC")
def mitgcm_by_mnc():
    data = ocean(("Temp", "S"), ("Z", "Y", "X"), (-DEPTH, LAT, LON),
                 ({"units": "meters", "positive": "up"}, {"units": "degree_north"}, {"units": "degree_east"}),
                 fields=({"units": "degC"}, {"units": "psu"}), land=0)
    return {"state.nc": at_times(data, "T", [3600.0], "s")}


@layout("MOM6", "--time", "0", said="record 0 of 2")
def mom6():
    data = ocean(dims=("z_l", "yh", "xh"), attributes=(
        {"units": "meters", "cartesian_axis": "Z", "positive": "down"},
        {"units": "degrees_north", "cartesian_axis": "Y"}, {"units": "degrees_east", "cartesian_axis": "X"}))
    return {"ocean.nc": at_times(data, "time", [15.0, 45.0], "days since 0001-01-01 00:00:00",
                                 calendar_type="THIRTY_DAY_MONTHS", calendar="THIRTY_DAY_MONTHS")}


@layout("MOM5", "--salinity", "practical", form="NETCDF3_64BIT")
def mom5():
    return {"ocean.nc": at_times(ocean(("temp", "salt"), ("st_ocean", "yt_ocean", "xt_ocean"), attributes=(
        {"units": "meters", "positive": "down", "cartesian_axis": "Z"},
        {"units": "degrees_N", "cartesian_axis": "Y"}, {"units": "degrees_E", "cartesian_axis": "X"}),
        fields=({"long_name": "Potential temperature", "units": "deg_C"}, {"long_name": "salinity", "units": "psu"}),
        points=(DEPTH, LAT, LON - 280)), "time", [15.5], "days since 1900-01-01", calendar="NOLEAP")}


@layout("HYCOM", kinds=("in-situ", "practical"), tolerance=2e-3)
def hycom():
    data = ocean(("water_temp", "salinity"), kinds=("in-situ", "practical"), units=("degC", "psu"))
    data = at_times(data, "time", [177672.0], "hours since 2000-01-01 00:00:00", calendar="gregorian", axis="T")
    return {"hycom.nc": packed(data.assign(tau=("time", [0.0], {"units": "hours since analysis"})))}


@layout("GLORYS", tolerance=2e-3, said="u: from 'uo'")
def glorys():
    data = ocean(dims=("depth", "latitude", "longitude"), units=("degrees_C", "1e-3"),
                 points=(DEPTH, LAT, np.arange(-170.0, 180, 20)))
    for name, standard_name in (("uo", "eastward"), ("vo", "northward")):
        data[name] = (0 * data.thetao + 0.1).assign_attrs(
            standard_name=f"{standard_name}_sea_water_velocity", units="m s-1")
    data = packed(at_times(data, "time", [376944.0], "hours since 1950-01-01"))
    data["thetao"].encoding["add_offset"] = 21.0
    return {"glorys.nc": data}


@layout("SODA", "--salinity", "practical")
def soda():
    data = ocean(("temp", "salt"), ("st_ocean", "yt_ocean", "xt_ocean"), attributes=(
        {"units": "meters", "positive": "down"}, {"units": "degrees_N"}, {"units": "degrees_E"}),
        fields=({"long_name": "Potential temperature", "units": "degrees C"}, {"units": "psu"}))
    return {"soda.nc": at_times(data, "time", [12980.0], "days since 1980-01-01 00:00:00", calendar="JULIAN")}


@layout("ORAS5 on a regular grid", "--temperature", "potential", "--salinity", "practical")
def oras5():
    data = ocean(("votemper", "vosaline"), ("deptht", "lat", "lon"), units=("degrees_C", "PSU"))
    for name in data.data_vars:
        del data[name].attrs["standard_name"]
    return {f"{name}.nc": at_times(data[[name]], "time_counter", [0.0], "days since 2000-01-01")
            for name in data.data_vars}


@layout("CESM's POP, regridded", "--salinity", "practical", tolerance=2e-4)
def pop_regridded():
    data = ocean(("TEMP", "SALT"), ("z_t", "lat", "lon"), (100 * DEPTH, LAT, LON),
                 fields=({"long_name": "Potential Temperature", "units": "degC"},
                         {"long_name": "Salinity", "units": "gram/kilogram"}))
    right = ocean()
    data["TEMP"].values, data["SALT"].values = right.thetao.values, right.so.values
    data.z_t.attrs = {"units": "centimeters", "positive": "down", "long_name": "depth from surface"}
    return {"pop.nc": at_times(data, "time", [31.0], "days since 0001-01-01 00:00:00", calendar="noleap")}


@layout("ECCO on longitudes and latitudes")
def ecco():
    data = ocean(("THETA", "SALT"), ("Z", "latitude", "longitude"),
                 (-DEPTH, LAT, np.arange(-170.0, 180, 20)),
                 ({"units": "m", "positive": "up", "standard_name": "depth"}, LAT_NORTH, LON_EAST),
                 fields=({"standard_name": "sea_water_potential_temperature", "units": "degree_C"},
                         {"standard_name": "sea_water_salinity", "units": "1e-3"}))
    return {"ecco.nc": at_times(data, "time", [12.0], "hours since 1992-01-01T12:00:00")}


@layout("GODAS", "--salinity", "practical", tolerance=2e-3)
def godas():
    data = ocean(("pottmp", "salt"), ("level", "lat", "lon"), fields=(
        {"long_name": "Ocean potential temperature", "units": "K"}, {"long_name": "Salinity", "units": "kg/kg"}))
    data["pottmp"].values += np.float32(273.15)
    data["salt"].values /= 1000
    files = {name: packed(at_times(data[[name]].copy(deep=True), "time", [66475.0], "days since 1800-01-01"))
             for name in data.data_vars}
    files["pottmp"]["pottmp"].encoding["add_offset"] = 285.0
    files["salt"]["salt"].encoding.update(scale_factor=1e-6, add_offset=0.03)
    return {f"{name}.nc": one for name, one in files.items()}


@layout("Argo, the Roemmich-Gilson climatology", "--variable", "temp=ARGO_TEMPERATURE_MEAN", "--variable",
        "salt=ARGO_SALINITY_MEAN", "--temperature", "in-situ", "--salinity", "practical", "--units",
        "temp=degC", "--units", "salt=psu", kinds=("in-situ", "practical"), said="is a pressure in dbar",
        points=(-gsw.z_from_p(DEPTH, 0.0), LAT, LON), tolerance=2e-3)
def argo():
    """Depths of the truth are those of the pressures."""
    right = ocean(points=(-gsw.z_from_p(DEPTH, 0.0), LAT, LON))
    data = ocean(("ARGO_TEMPERATURE_MEAN", "ARGO_SALINITY_MEAN"), ("PRESSURE", "LATITUDE", "LONGITUDE"),
                 attributes=({"units": "dbar", "positive": "down"}, LAT_NORTH, LON_EAST), fields=(
                     {"units": "degree celcius (ITS-90)"}, {"units": "Practical Salinity Scale 78"}))
    for theirs, ours in zip(data.data_vars, right.data_vars):
        data[theirs].values = right[ours].values
    return {"argo.nc": data}


@layout("CMIP6", "--time", "0")
def cmip6():
    data = ocean(dims=("lev", "lat", "lon"), units=("degC", "0.001"), attributes=(
        {**DOWN, "axis": "Z", "bounds": "lev_bnds"}, LAT_NORTH, LON_EAST))
    data["so"].attrs["standard_name"] = "sea_water_salinity"
    files = {}
    for name in ("thetao", "so"):
        files[f"{name}.nc"] = at_times(data[[name]], "time", [15.0, 45.0], "days since 1850-01-01",
                                       calendar="360_day")
        files[f"{name}.nc"]["lev_bnds"] = ("lev", "bnds"), np.stack([DEPTH - 2, DEPTH + 2], 1)
    return files


@layout("Levitus", "--temperature", "in-situ", "--salinity", "practical", kinds=("in-situ", "practical"),
        form="NETCDF3_CLASSIC")
def levitus():
    return {"levitus.nc": ocean(("TEMP", "SALT"), ("ZAXLEVITR", "YAXLEVITR", "XAXLEVITR"), attributes=(
        {"units": "METERS", "positive": "down"}, {"units": "DEGREES_NORTH"}, {"units": "DEGREES_EAST"}), fields=(
            {"long_name": "TEMPERATURE", "units": "DEG C"}, {"long_name": "SALINITY", "units": "PPT"}),
        points=(DEPTH, LAT, np.arange(30.0, 390, 20)))}


CALENDARS = ("standard", "gregorian", "proleptic_gregorian", "noleap", "365_day", "360_day", "julian", "all_leap",
             "366_day")


def with_calendar(calendar):
    def files():
        data = ocean()
        return {f"{name}.nc": at_times(data[[name]], "time", [40.0], "days since 2000-01-01", calendar=calendar)
                for name in data.data_vars}
    return files


for one in CALENDARS:
    layout(f"calendar {one}")(with_calendar(one))
for one in ("NETCDF3_CLASSIC", "NETCDF3_64BIT_OFFSET", "NETCDF3_64BIT_DATA", "NETCDF4_CLASSIC"):
    layout(one, form=one)(lambda: {"ocean.nc": ocean()})
for one in ("Celsius", "degrees_celsius", "degree_C", "deg_C", "C", "°C"):
    layout(f"temperature in {one}")(lambda one=one: {"ocean.nc": ocean(units=(one, "psu"))})
for one in ("psu", "PSU", "1e-3", "0.001", "g kg-1", "g/kg", "ppt"):
    layout(f"salinity in {one}", kinds=("conservative", "absolute"))(
        lambda one=one: {"ocean.nc": ocean(kinds=("conservative", "absolute"), units=("degC", one))})


@layout("all axes descend")
def descending():
    return {"ocean.nc": ocean(points=(DEPTH[::-1], LAT[::-1], LON[::-1]))}


@layout("axes permuted")
def permuted():
    return {"ocean.nc": ocean().transpose("lon", "depth", "lat")}


@layout("temperature and salinity in other directions and ranges of longitude")
def other_directions():
    return {"t.nc": ocean()[["thetao"]],
            "s.nc": ocean(points=(DEPTH[::-1], LAT[::-1], np.arange(-170.0, 180, 20)))[["so"]]}


@layout("salinity of the globe beside a region", points=(DEPTH, LAT[2:6], LON[8:14]))
def region():
    return {"t.nc": ocean().isel(lat=slice(2, 6), lon=slice(8, 14))[["thetao"]], "s.nc": ocean()[["so"]]}


@layout("a mask in another range of longitude", "--variable", "maskT=lsm")
def mask_of_other_longitudes():
    lon = np.arange(-170.0, 180, 20)
    data = ocean(points=(DEPTH, LAT, lon))[["so"]]
    return {"ts.nc": ocean(land=1.0), "mask.nc": data.assign(
        lsm=(data.so.dims, wet((DEPTH, LAT, lon)).astype("i1")))[["lsm"]]}


@layout("a mask without coordinates", "--variable", "maskT=wet", said="'lon' by its name and its 18 points")
def mask_without_coordinates():
    return {"ts.nc": ocean(land=1.0), "mask.nc": xarray.Dataset(
        {"wet": (("depth", "lat", "lon"), wet().astype("i1"))})}


@layout("the third record", "--time", "2", said="record 2 of 4", warmer=2)
def third_record():
    return {"ocean.nc": at_times(ocean(), "time", np.arange(4.0), "days since 2000-01-01")}


# ---- what has to be regridded ----

def bent():
    lon, lat = plane()
    return lon, lat + 4 * np.sin(np.radians(lon)) * (lat > 30)


CDO = "curvilinear: .*cdo remapbil,r360x180"


@refused("NEMO's ORCA", CDO)
def orca():
    data = nemo()
    data["nav_lat"].values = bent()[1].astype("f4")
    return {"orca.nc": data}


@refused("curvilinear MOM6", CDO)
def mom6_tripolar():
    data = mom6()["ocean.nc"].isel(time=0, drop=True)
    for name, values in zip(("geolon", "geolat"), bent()):
        data[name] = ("yh", "xh"), values, {"units": "degrees_E" if name == "geolon" else "degrees_N"}
    return {"mom6.nc": data}


@refused("POP", CDO, "--salinity", "practical")
def pop():
    data = on_plane(ocean(("TEMP", "SALT")), ("TLONG", "TLAT"), *bent(), dims=("nlat", "nlon"))
    data["TLAT"].values[5, 2] = np.nan
    return {"pop.nc": data}


@refused("ROMS", CDO)
def roms():
    data = on_plane(ocean(("temp", "salt"), ("s_rho", "lat", "lon"), (-DEPTH / 1000, LAT, LON), attributes=(
        {"standard_name": "ocean_s_coordinate_g2", "positive": "up"}, {}, {})), ("lon_rho", "lat_rho"), *bent(),
        dims=("eta_rho", "xi_rho"))
    return {"roms.nc": data}


@refused("sigma levels", "ocean_sigma_coordinate, expected .*; interpolate to levels")
def sigma():
    return {"sigma.nc": ocean(dims=("sigma", "lat", "lon"), points=(-DEPTH / 400, LAT, LON), attributes=(
        {"standard_name": "ocean_sigma_coordinate", "positive": "up"}, LAT_NORTH, LON_EAST))}


def unstructured(dim, lon, lat):
    data = ocean().stack({dim: ("lat", "lon")})
    places = data.lon.values, data.lat.values
    data = data.reset_index(dim).drop_vars(["lat", "lon"], errors="ignore")
    return data.assign({lon: (dim, np.radians(places[0]), {"units": "radian", "standard_name": "longitude"}),
                        lat: (dim, np.radians(places[1]), {"units": "radian", "standard_name": "latitude"})})


@refused("FESOM", "along 'nod2'.*cdo remapdis,r360x180")
def fesom():
    return {"fesom.nc": unstructured("nod2", "lon", "lat")}


@refused("ICON", "along 'ncells'.*cdo remapdis,r360x180")
def icon():
    return {"icon.nc": unstructured("ncells", "clon", "clat")}


@refused("MPAS", "axis 'nCells'.*cdo remapdis,r360x180")
def mpas():
    return {"mpas.nc": unstructured("nCells", "lonCell", "latCell").drop_vars(["lonCell", "latCell"])}


@refused("OISST", "the only level is at 0 m", "--default", "salt=35", "--temperature", "in-situ", "--variable",
         "temp=sst")
def oisst():
    return {"oisst.nc": ocean(("sst", "so"), ("zlev", "lat", "lon"), (DEPTH[:1] * 0, LAT, LON), fields=(
        {"units": "Celsius"}, {}), attributes=({"units": "meters", "positive": "down"}, LAT_NORTH, LON_EAST))[
            ["sst"]]}


@refused("latitudes in radians", "latitude 'lat' is in 'radians', expected degrees")
def radians():
    data = ocean()
    return {"r.nc": data.assign_coords(lat=("lat", np.radians(LAT), {"units": "radians", "standard_name": "latitude"}))}


@refused("latitudes in radians that do not say so", "latitude 'lat' has no units, and -1.0472 to 1.0472 may be radians")
def bare_radians():
    return {"r.nc": ocean().assign_coords(lat=("lat", np.radians(LAT)))}


@refused("no coordinates at all", "coordinate 'nav_lon' has missing values, expected numbers")
def nowhere():
    data = nemo()
    return {"t.nc": data.assign(nav_lon=data.nav_lon * np.nan)}


@refused("a section along latitudes", "two of longitude, latitude and depth of 'thetao' lie along 'lat'")
def section():
    data = ocean().isel(depth=0, drop=True)
    return {"t.nc": data.assign_coords(depth=("lat", np.linspace(5, 400, 9), DOWN))}


def masked(change):
    """The ocean, and a mask of it elsewhere."""
    mask = xarray.Dataset({"m": (("depth", "lat", "lon"), wet().astype("f4"))}, ocean().coords)
    return lambda: {"ts.nc": ocean(), "mask.nc": change(mask)}


def moved(axis, by):
    return lambda mask: mask.assign_coords({axis: (axis, mask[axis].values + by, mask[axis].attrs)})


M = ("--variable", "maskT=m")
refused("a mask half a cell east", "'m' for maskT has another longitude than .* the first is 10, the nearest to it "
        "(0|20)", *M)(masked(moved("lon", 10)))
refused("a mask farther north", "another latitude than .*1 of 9 are not there, the first is -60, the nearest to it -45",
        *M)(masked(moved("lat", 15)))
refused("a mask of other levels", "other levels than .*1 of 6 are not there, the first is -5, the nearest to it -7",
        *M)(masked(lambda mask: mask.assign_coords(depth=("depth", np.append(7, DEPTH[1:]), DOWN))))
refused("a mask of more levels without coordinates", "axis 'depth' of 'm' has no coordinate and 5 points, but 'depth' "
        "has 6", *M)(masked(lambda mask: mask.isel(depth=slice(1, None)).drop_vars("depth")))
refused("a mask of percents", "'m' for maskT has the value 100, expected 0 or 1", *M)(masked(lambda mask: 100 * mask))
refused("a mask that is 1 on land", "'m' for maskT is 1 on land by its standard name", *M)(
    masked(lambda mask: mask.assign(m=(1 - mask.m).assign_attrs(standard_name="land_binary_mask"))))
