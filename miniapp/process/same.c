#include "ranks.h"
#include "replace.h"
#include "run.h"
#include "status.h"
#include "text.h"

#include <math.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

static bool is_that_of_the_first(const char *text)
{
    char own[SHA256_TEXT], first[SHA256_TEXT];
    digest_text(text, own);
    memcpy(first, own, sizeof(first));
    ranks_broadcast(RANKS_ALL, first, sizeof(first));
    return strcmp(own, first) == 0;
}

enum miniapp_status same_build(struct run *run)
{
    static struct provenance own;
    char text[PROVENANCE_TEXT] = "";
    if (ranks_count() == 1)
        return MINIAPP_DONE;
    provenance_of_build(&own);
    for (size_t i = 0; i < own.count; i++)
        append(text, sizeof(text), " ", "%s", own.texts[i]);
    ranks_broadcast(RANKS_ALL, &run->options.method.seed, sizeof(run->options.method.seed));
    return is_that_of_the_first(text)
               ? MINIAPP_DONE
               : fail(MINIAPP_USAGE, "process %d runs another build than the first", ranks_own());
}

enum miniapp_status same_options(const struct run *run)
{
    return ranks_count() == 1 || is_that_of_the_first(run->command_line)
               ? MINIAPP_DONE
               : fail(MINIAPP_USAGE, "process %d has other options than the first", ranks_own());
}

/* The SHA-256 of a file, "" if it cannot be read. The first process of a node reads it for all
 * whose file is the very same. */
static void digest_on_node(const char *path, char text[SHA256_TEXT])
{
    struct {
        struct stat file;
        char text[SHA256_TEXT];
    } own = {.text = ""}, first;
    stat(path, &own.file);
    if (ranks_local() == 0)
        digest_file(path, own.text);
    first = own;
    ranks_broadcast(RANKS_OF_NODE, &first, sizeof(first));
    if (!is_same_file(&own.file, &first.file))
        digest_file(path, first.text);
    memcpy(text, first.text, sizeof(first.text));
}

enum miniapp_status same_file(const char *path, char digest[SHA256_TEXT])
{
    digest_on_node(path, digest);
    return is_that_of_the_first(digest)
               ? MINIAPP_DONE
               : fail(MINIAPP_INPUT,
                      "%s: process %d has read another file of that name than the first", path,
                      ranks_own());
}

/* ---- cores ---- */

void warn_of_crowd(bool computes)
{
    static double load[2][MINIAPP_CORES];
    double threads = 0, most = 0;
    size_t cores = 0;
    if (ranks_on_node() == 1)
        return;
    if (computes)
        miniapp_host_load(load[0], load[1]);
    ranks_reduce(RANKS_SUM_ON_NODE, load[0], 2 * MINIAPP_CORES);
    for (size_t core = 0; core < MINIAPP_CORES; core++) {
        threads += load[0][core];
        most = fmax(most, load[0][core]);
        cores += load[1][core] > 0;
    }
    const double rounding = 1e-6;
    if (ranks_local() > 0 || cores == 0 || most <= ceil((threads - rounding) / cores) + rounding)
        return;
    warn("%.3g threads share a core, though %d processes of this node have %.0f threads on %zu "
         "cores: bind each process to cores of its own (Open MPI: mpirun --map-by slot:PE=%d "
         "--bind-to core; MPICH: mpiexec -bind-to core:%d; Slurm: srun --cpu-bind=cores), or set "
         "OMP_PROC_BIND=false",
         most, ranks_on_node(), threads, cores, miniapp_host_threads(), miniapp_host_threads());
}
