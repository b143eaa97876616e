#include "hdf5_error.h"

#include <ctype.h>
#include <hdf5.h>
#include <stdbool.h>
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
