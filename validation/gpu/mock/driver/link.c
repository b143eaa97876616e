/*
 * The driver's own assembler and linker, which takes PTX at start, as GCC's runtime gives it. It is
 * the `ptxas` of this mock, found in the PATH.
 */
#define _GNU_SOURCE
#include "mock.h"

#include <fcntl.h>
#include <ftw.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MOST_FILES = 128, PTX = 1, FOLDER_LENGTH = 256, PATH_LENGTH = FOLDER_LENGTH + 16 };

struct CUlink_st {
    char folder[FOLDER_LENGTH];
    int count;
    void *image;
};

extern char **environ;

static void path_of(const struct CUlink_st *link, int number, char path[PATH_LENGTH])
{
    snprintf(path, PATH_LENGTH, "%s/%d.ptx", link->folder, number);
}

API int cuLinkCreate_v2(unsigned count, const int *options, void **values, struct CUlink_st **link)
{
    (void)count;
    (void)options;
    (void)values;
    const char *const parent = getenv("TMPDIR");
    *link = calloc(1, sizeof(**link));
    const int length = snprintf((*link)->folder, FOLDER_LENGTH, "%s/mock-link-XXXXXX",
                                parent && *parent ? parent : "/tmp");
    return length < FOLDER_LENGTH && mkdtemp((*link)->folder) ? OK : OUT_OF_MEMORY;
}

API int cuLinkAddData_v2(struct CUlink_st *link, int kind, const void *data, size_t bytes,
                         const char *name, unsigned count, const int *options, void **values)
{
    char path[PATH_LENGTH];
    (void)name;
    (void)count;
    (void)options;
    (void)values;
    if (has_to_fail("cuLinkAddData") || kind != PTX || link->count == MOST_FILES)
        return INVALID_PTX;
    path_of(link, link->count++, path);
    FILE *const file = fopen(path, "w");
    const bool written = file && fwrite(data, 1, strnlen(data, bytes), file) > 0;
    return file && fclose(file) == 0 && written ? OK : OUT_OF_MEMORY;
}

/* Older names, of the same. */
API int cuLinkCreate(unsigned count, const int *options, void **values, struct CUlink_st **link)
{
    return cuLinkCreate_v2(count, options, values, link);
}

API int cuLinkAddData(struct CUlink_st *link, int kind, const void *data, size_t bytes,
                      const char *name, unsigned count, const int *options, void **values)
{
    return cuLinkAddData_v2(link, kind, data, bytes, name, count, options, values);
}

/* Runs ptxas on all files; whether it is well. GCC counts on warps whose lanes go in step. */
static bool assemble(const struct CUlink_st *link, const char *output)
{
    char paths[MOST_FILES][PATH_LENGTH];
    char *words[MOST_FILES + 5] = {"ptxas", "--in-step", "-o", (char *)output};
    int status = 1;
    pid_t process;
    for (int i = 0; i < link->count; i++) {
        path_of(link, i, paths[i]);
        words[i + 4] = paths[i];
    }
    return posix_spawnp(&process, words[0], NULL, NULL, words, environ) == 0 &&
           waitpid(process, &status, 0) == process && status == 0;
}

static void *read_all(const char *path, size_t *bytes)
{
    struct stat about;
    const int file = open(path, O_RDONLY | O_CLOEXEC);
    if (file < 0 || fstat(file, &about))
        return NULL;
    *bytes = (size_t)about.st_size;
    void *const all = malloc(*bytes);
    const bool is_read = all && read(file, all, *bytes) == about.st_size;
    close(file);
    return is_read ? all : NULL;
}

API int cuLinkComplete(struct CUlink_st *link, void **image, size_t *bytes)
{
    char output[PATH_LENGTH];
    snprintf(output, sizeof(output), "%s/image", link->folder);
    link->image = assemble(link, output) ? read_all(output, bytes) : NULL;
    *image = link->image;
    return link->image ? OK : INVALID_PTX;
}

static int remove_one(const char *path, const struct stat *about, int what, struct FTW *place)
{
    (void)about;
    (void)what;
    (void)place;
    return remove(path);
}

API int cuLinkDestroy(struct CUlink_st *link)
{
    nftw(link->folder, remove_one, 8, FTW_DEPTH | FTW_PHYS);
    free(link->image);
    free(link);
    return OK;
}
