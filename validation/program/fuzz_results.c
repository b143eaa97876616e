/*
 * libFuzzer's entry to saved runs: any bytes, as the file of --resume, are results
 * that can be printed in each form, or give a status; and they leave nothing behind.
 */
#include "report.h"

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* The file of this run, in memory; runs of one group take turns. */
static const char *file_path(void)
{
    static char path[4096];
    const char *const folder = getenv("TMPDIR");
    snprintf(path, sizeof(path), "%s/fuzz_results.%d.json", folder ? folder : "/dev/shm",
             (int)getpgrp());
    return path;
}

static void remove_file(void)
{
    unlink(file_path());
}

int LLVMFuzzerInitialize(int *count, char ***words);
int LLVMFuzzerInitialize(int *count, char ***words)
{
    (void)count;
    (void)words;
    atexit(remove_file);
    if (!freopen("/dev/null", "w", stdout)) /* what is printed does not matter */
        exit(EXIT_FAILURE);
    return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static struct results empty; /* it is large */
    struct results *const results = malloc(sizeof(*results));
    FILE *const file = fopen(file_path(), "wb");
    if (!results || !file || fwrite(data, 1, size, file) != size || fclose(file) != 0)
        exit(EXIT_FAILURE);
    *results = empty;
    if (!results_load(file_path(), results, &results->provenance))
        for (int format = FORMAT_TABLE; format <= FORMAT_CSV; format++)
            report(results, (enum output_format)format);
    results_release(results);
    free(results);
    return 0;
}
