/* One process, without MPI. */
#include "program.h"
#include "ranks.h"
#include "status.h"

#include <stdlib.h>

/* Most functions have nothing to do. */
#pragma GCC diagnostic ignored "-Wunused-parameter"

struct ranks ranks_found = {.count = 1, .on_node = 1};
static enum miniapp_status agreed;

const char *ranks_library(char text[RANKS_TEXT])
{
    text[0] = '\0';
    return text;
}

/* The variables that launchers set for the processes that they start. The last line is srun's: a
 * job without it has SLURM_NTASKS, too. */
static const struct {
    const char *count, *own;
} launchers[] = {
    {"OMPI_COMM_WORLD_SIZE", "OMPI_COMM_WORLD_RANK"},
    {"PMI_SIZE", "PMI_RANK"},
    {"SLURM_STEP_NUM_TASKS", "SLURM_PROCID"},
};
enum { LAUNCHERS = sizeof(launchers) / sizeof(*launchers) };

static int number_in_environment(const char *variable)
{
    const char *const text = getenv(variable);
    return text ? atoi(text) : 0;
}

/* Several processes would all do the same. The first of them says so. */
static void warn_of_launcher(void)
{
    size_t i = 0;
    while (i < LAUNCHERS && number_in_environment(launchers[i].count) < 2)
        i++;
    if (i < LAUNCHERS && number_in_environment(launchers[i].own) == 0)
        warn("%d processes were started, but the program is built without MPI: each does the whole "
             "run by itself; cmake --preset host-mpi builds it with MPI",
             number_in_environment(launchers[i].count));
}

enum miniapp_status ranks_start(int *argc, char ***argv)
{
    warn_of_launcher();
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_join(int processes)
{
    return processes == 1 ? MINIAPP_DONE
                          : fail(MINIAPP_DEVICE, "the library is built without MPI: cmake --preset "
                                                 "host-mpi builds one with MPI");
}

enum miniapp_status ranks_agree_on(enum miniapp_status own, double *numbers, size_t count)
{
    agreed = agreed ? agreed : own;
    return agreed;
}

/* clang-format off */
void ranks_install_end(void (*end_all)(enum miniapp_status)) {}
enum miniapp_status ranks_end_all(enum miniapp_status status) { return status; } /* nobody waits */
int ranks_failed(void) { return 0; }
void ranks_meet(void) {}
void ranks_exchange_begin(const struct message *messages, size_t count) {}
bool ranks_exchange_ended(bool waits) { return true; }
void ranks_send(int rank, const void *memory, size_t bytes) {}
void ranks_receive(int rank, void *memory, size_t bytes) {}
void ranks_reduce(enum ranks_operation operation, double *numbers, size_t count) {}
void ranks_broadcast(enum ranks_group group, void *memory, size_t bytes) {}
bool ranks_gpu_aware(void) { return false; }
/* clang-format on */
