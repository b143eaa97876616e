/* The device of a test: the host, or the one that its argument names. */
#ifndef VALIDATION_ON_DEVICE_H
#define VALIDATION_ON_DEVICE_H

#include "unit.h"

#include <miniapp/device.h>
#include <stdio.h>

static struct miniapp_device *device;
static bool on_host; /* nothing is copied to it */

static int open_device(void **state)
{
    if (miniapp_device_open(device_name, &device)) {
        fprintf(stderr, "%s\n", miniapp_message());
        return 1;
    }
    on_host = strcmp(miniapp_device_kind(device), "host") == 0;
    return 0;
}

static int close_device(void **state)
{
    miniapp_device_close(device);
    return 0;
}

#endif
