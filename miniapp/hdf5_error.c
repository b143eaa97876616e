#include "hdf5_error.h"

#include <ctype.h>
#include <hdf5.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 8192 }; /* a path may be in it */

void hdf5_silence(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

/* Where a system call failed, HDF5 says everything that it knows, with a line break in its time:
 * "file read failed: time = ..., error message = 'Is a directory', ...". */
static void shorten(char *text)
{
    static const char before[] = "error message = '";
    char *details = strstr(text, ": time = ");
    const char *reason = strstr(text, before);
    if (details && reason) {
        reason += strlen(before);
        memmove(details + 2, reason, strlen(reason) + 1);
        details[2 + strcspn(details + 2, "'")] = '\0';
    }
    for (; *text; text++)
        if (iscntrl((unsigned char)*text))
            *text = ' ';
}

static herr_t keep_message(unsigned level, const H5E_error2_t *error, void *text)
{
    (void)level;
    if (error->desc && error->desc[0])
        snprintf(text, LONGEST, "%s", error->desc);
    return 0;
}

const char *hdf5_reason(void)
{
    static char text[LONGEST];
    snprintf(text, sizeof(text), "no reason given");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_message, text);
    shorten(text);
    return text;
}
