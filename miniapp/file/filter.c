#include "filter.h"
#include "hdf5_error.h"
#include "status.h"

#include <stdbool.h>
#include <stdio.h>

enum { FILTER_NAME = 80 };

/* Files seldom hold the names of filters that their writer loaded. The numbers are registered with
 * The HDF Group. */
static const struct {
    H5Z_filter_t number;
    const char *name;
} known[] = {
    {H5Z_FILTER_DEFLATE, "gzip"},
    {H5Z_FILTER_SZIP, "szip"},
    {307, "bzip2"},
    {32000, "lzf"},
    {32001, "blosc"},
    {32004, "lz4"},
    {32008, "bitshuffle"},
    {32013, "zfp"},
    {32015, "zstd"},
    {32026, "blosc2"},
};

/* Our name of a filter, else the file's, else "". */
static void name_filter(H5Z_filter_t number, char name[FILTER_NAME])
{
    for (size_t i = 0; i < sizeof(known) / sizeof(*known); i++)
        if (known[i].number == number)
            snprintf(name, FILTER_NAME, "%s", known[i].name);
}

/* The first filter of a dataset that can be neither found nor loaded; false where all are there. */
static bool find_missing(hid_t dataset, H5Z_filter_t *number, char name[FILTER_NAME])
{
    const hid_t creation = H5Dget_create_plist(dataset);
    const int count = creation >= 0 ? H5Pget_nfilters(creation) : 0;
    bool is_missing = false;
    for (int i = 0; i < count && !is_missing; i++) {
        unsigned flags;
        size_t values = 0;
        name[0] = '\0';
        *number =
            H5Pget_filter2(creation, (unsigned)i, &flags, &values, NULL, FILTER_NAME, name, NULL);
        is_missing = *number >= 0 && H5Zfilter_avail(*number) <= 0;
    }
    if (creation >= 0)
        H5Pclose(creation);
    return is_missing;
}

enum miniapp_status cannot_be_read(hid_t dataset, const char *path, const char *name)
{
    char reason[HDF5_REASON];
    hdf5_reason(reason);
    H5Z_filter_t number;
    char filter[FILTER_NAME];
    if (!find_missing(dataset, &number, filter))
        return fail(MINIAPP_INPUT, "%s: dataset '%s' cannot be read (%s)", path, name, reason);
    name_filter(number, filter);
    return fail(
        MINIAPP_INPUT,
        "%s: dataset '%s' is stored by the filter %d (%s), which this HDF5 lacks: set "
        "HDF5_PLUGIN_PATH to the folder of its plugin (Python's hdf5plugin has many), or store "
        "the data without it, by 'h5repack -f GZIP=4 %s NEW.h5' on a machine that has it",
        path, name, (int)number, filter[0] ? filter : "without a name", path);
}
