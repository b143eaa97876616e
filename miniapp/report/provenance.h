/* Where a result comes from. */
#ifndef PROVENANCE_H
#define PROVENANCE_H

#include "program.h"
#include "text.h"

#include <nettle/sha2.h>
#include <stddef.h>

enum { PROVENANCE_ITEMS = 40, PROVENANCE_TEXT = MINIAPP_TEXT };

/* Names and texts, in the order in which they are shown. */
struct provenance {
    size_t count;
    const char *names[PROVENANCE_ITEMS];
    char texts[PROVENANCE_ITEMS][PROVENANCE_TEXT];
};

/* Version, git commit, build type, compiler and flags, offload target, HDF5 version. */
void provenance_of_build(struct provenance *provenance);

/* The text of an item, to be filled in; a new item is empty. NULL if there are too many. */
char *provenance_item(struct provenance *provenance, const char *name);

/* Adds a text, or puts it in the place of the one of that name. */
void provenance_add(struct provenance *provenance, const char *name, const char *text);

/* Adds a part to an item's text, as append() does. */
#define provenance_append(provenance, name, between, ...)                                          \
    append(provenance_item(provenance, name), PROVENANCE_TEXT, between, __VA_ARGS__)

/* The text of a name; "" where there is none. */
const char *provenance_text(const struct provenance *provenance, const char *name);

/* Fails if two runs differ in one of these items of their provenance, an item that is not there
 * being an empty one, and names the first difference: "PATH: WHAT: it was made with NAME=TEXT, but
 * this run has NAME=TEXT". */
enum miniapp_status check_alike(const char *path, const char *what, const struct provenance *then,
                                const struct provenance *now, const char *const *names,
                                size_t count);

/* ---- the machine, as hwloc and Linux describe it ---- */

enum { CACHE_LEVELS = 3 };

/* Caches for data: how many of a level the CPUs have that the process may use, and the size of
 * each. */
struct caches {
    int count[CACHE_LEVELS]; /* of L1, L2, L3; 0 where there is none */
    double bytes[CACHE_LEVELS];
};

/* Adds `topology`: packages, cores, CPUs, NUMA nodes and caches; `smt`: whether the system runs two
 * or more threads on a core (on, off, forceoff, notsupported, notimplemented); `clock`;
 * `huge_pages`: when the kernel gives them (always, madvise, never); and `load`: the load average
 * of the last minute. An item that is not known is left out. */
void topology_add(struct provenance *provenance, struct caches *caches);

/* The governor of a CPU's clock, by its folder cpufreq of /sys, which most virtual machines lack:
 * "governor performance, 400 to 3700 MHz". */
enum { CLOCK_TEXT = 96 };
const char *clock_text(const char *folder, char text[CLOCK_TEXT]);

/* The name of the first level whose caches, one for each thread as far as there are so many,
 * together hold so many bytes; "" if none does. */
const char *cache_that_holds(const struct caches *caches, int threads, double bytes);

/* The bytes of the caches of the last level, one for each thread as far as there are so many; 0 if
 * they are not known. */
double last_cache_bytes(const struct caches *caches, int threads);

/* ---- SHA-256 of what was read and computed ---- */

enum { SHA256_TEXT = 65 }; /* in hexadecimal digits */

/* The digest of a file; "" if it cannot be read. */
void digest_file(const char *path, char text[SHA256_TEXT]);

/* The digest of what was added to a context. */
void digest_end(struct sha256_ctx *context, char text[SHA256_TEXT]);

void digest_text(const char *words, char text[SHA256_TEXT]);

#endif
