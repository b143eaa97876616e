/* Where a result comes from. */
#ifndef PROVENANCE_H
#define PROVENANCE_H

#include "program.h"

#include <stddef.h>
#include <stdio.h>

enum { PROVENANCE_ITEMS = 32, PROVENANCE_TEXT = MINIAPP_TEXT };

/* Names and texts, in the order in which they are shown. */
struct provenance {
    size_t count;
    const char *names[PROVENANCE_ITEMS];
    char texts[PROVENANCE_ITEMS][PROVENANCE_TEXT];
};

/* Version, git commit, build type, compiler and flags, offload target, HDF5 version. */
void provenance_of_build(struct provenance *provenance);

/* Adds host, CPU, the input's path and SHA-256, the command line and the time. */
void provenance_of_run(struct provenance *provenance, const char *command_line, const char *input,
                       const char *sha256);

/* The words of a command line in one text. */
void join_words(int count, char **words, char text[PROVENANCE_TEXT]);

/* Adds a text, or puts it in the place of the one of that name. */
void provenance_add(struct provenance *provenance, const char *name, const char *text);

/* The text of a name; "" where there is none. */
const char *provenance_text(const struct provenance *provenance, const char *name);

/* Prints the output of --version. */
void print_build(FILE *stream);

#endif
