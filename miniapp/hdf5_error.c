#include "hdf5_error.h"

#include <hdf5.h>
#include <stdio.h>

void hdf5_silence(void)
{
    H5Eset_auto2(H5E_DEFAULT, NULL, NULL);
}

static herr_t keep_message(unsigned level, const H5E_error2_t *error, void *text)
{
    (void)level;
    if (error->desc && error->desc[0])
        snprintf(text, 256, "%s", error->desc);
    return 0;
}

const char *hdf5_reason(void)
{
    static char text[256];
    snprintf(text, sizeof(text), "no reason given");
    H5Ewalk2(H5E_DEFAULT, H5E_WALK_DOWNWARD, keep_message, text);
    return text;
}
