/* Prints what the library has, for --list-kernels, --list-variants and --list-devices. */
#ifndef LISTING_H
#define LISTING_H

#include "program.h"

#include <stdbool.h>

/* Whether kernels of a subject are of no group, 'all' or 'calibration': few files hold what they
 * read. */
bool is_chosen_by_name(const char *subject);

/* Prints each kernel's arguments and cost, and the sequences. */
void list_kernels(const struct miniapp_settings *settings);

/* Prints the purpose and the directives of each variant. */
void list_variants(void);

/* Prints the devices that this build can use on this machine. */
void list_devices(void);

#endif
