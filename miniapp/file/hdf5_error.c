#include "hdf5_file.h"
#include "status.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static char reason[HDF5_REASON]; /* for the next hdf5_reason */
static bool has_refused;

static herr_t keep_message(unsigned level, const H5E_error2_t *error, void *unused)
{
    (void)level;
    (void)unused;
    if (error->desc && error->desc[0])
        snprintf(reason, sizeof(reason), "%s", error->desc);
    return 0;
}

/* HDF5 calls this as soon as a call fails: the clean-up after that overwrites HDF5's own record of
 * the error. */
static herr_t keep_reason(hid_t stack, void *unused)
{
    return H5Ewalk2(stack, H5E_WALK_DOWNWARD, keep_message, unused);
}

void hdf5_start(void)
{
    has_refused = false;
    H5dont_atexit();
    H5Eset_auto2(H5E_DEFAULT, keep_reason, NULL);
}

/* Where a system call failed, HDF5 tells all that it knows, with a line break after the time:
 * "file read failed: time = ..., error message = 'Is a directory', ...". */
static void shorten(char *text)
{
    static const char before[] = "error message = '";
    const char *message = strstr(text, before);
    char *details = strpbrk(text, ":,");
    if (message && details) {
        message += strlen(before);
        snprintf(details, 3, ": ");
        memmove(details + 2, message, strlen(message) + 1);
        details[2 + strcspn(details + 2, "'")] = '\0';
    }
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            *text = ' ';
}

const char *hdf5_reason(char text[HDF5_REASON])
{
    has_refused = true;
    snprintf(text, HDF5_REASON, "%s", reason[0] ? reason : "no reason given");
    reason[0] = '\0';
    shorten(text);
    return text;
}

bool hdf5_has_refused(void)
{
    return has_refused;
}

void hdf5_close(hid_t object)
{
    if (object >= 0)
        H5Idec_ref(object);
}

/* ---- filters, which compress a dataset: some are part of HDF5, others are plugins ---- */

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
    CLOSED const hid_t creation = H5Dget_create_plist(dataset);
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
