/* Prints what the library has, for --list-kernels and --list-devices. */
#ifndef LISTING_H
#define LISTING_H

#include "program.h"

#include <stdio.h>

/* What each kernel reads, writes and costs, and the sequences. */
void list_kernels(FILE *stream, const struct miniapp_settings *defaults);

/* What this build can run on here. */
void list_devices(FILE *stream);

#endif
