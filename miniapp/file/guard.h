/* HDF5 crashes on some damaged files, or loops for ever. Such a file is an input that cannot be
 * used: between guard_start and guard_end, a crash or an endless loop ends the program with one
 * line that names the file, and with MINIAPP_INPUT as exit code. This works only in a program that
 * has called miniapp_own_process. */
#ifndef GUARD_H
#define GUARD_H

#include <stddef.h>

void guard_start(const char *path);

/* Says that so many bytes in so many chunks will be read next, which may take a while. */
void guard_data(size_t bytes, size_t chunks);

/* Says that HDF5 has come to another link. Each of them is progress, but there are no more of them
 * than the file has room for: a damaged one may lead round in a circle. */
void guard_link(void);

void guard_end(void);

/* How many milliseconds of CPU time the thread that reads may take besides reading data; it needs
 * only a few. A test sets less. */
extern long guard_patience;

#endif
