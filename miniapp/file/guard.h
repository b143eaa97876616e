/* HDF5 crashes on some damaged files, or comes to no end. That is an input which cannot be used:
 * between guard_start and guard_end it ends the program with one line that names the file and the
 * exit code of such an input, in a program that has called miniapp_own_process. */
#ifndef GUARD_H
#define GUARD_H

#include <stddef.h>

void guard_start(const char *path);

/* The next data, of so many bytes in so many chunks, will be read: that may take its time. */
void guard_data(size_t bytes, size_t chunks);

void guard_end(void);

/* How many milliseconds the thread that reads may compute for what is no data, which takes it few.
 * A test has less patience. */
extern long guard_patience;

#endif
