#include "program.h"
#include "ranks.h"
#include "status.h"

#include <limits.h>
#include <mpi.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#if defined(OPEN_MPI) && OPEN_MPI
#include <mpi-ext.h>
#endif

struct ranks ranks_found = {.count = 1, .on_node = 1};
static enum miniapp_status agreed;
static int failed = -1;

const char *ranks_library(char text[RANKS_TEXT])
{
    int length, version, subversion;
    char library[MPI_MAX_LIBRARY_VERSION_STRING];
    MPI_Get_version(&version, &subversion);
    MPI_Get_library_version(library, &length);
    library[strcspn(library, ",\n")] = '\0';
    for (char *tab = library; (tab = strchr(tab, '\t')) != NULL;)
        *tab = ' ';
    snprintf(text, RANKS_TEXT, "%.64s, MPI %d.%d", library, version, subversion);
    return text;
}

static bool is_aware(void)
{
#if defined(MPIX_CUDA_AWARE_SUPPORT)
    return MPIX_Query_cuda_support();
#elif defined(MPIX_GPU_SUPPORT_CUDA)
    int is_supported = 0;
    return MPIX_GPU_query_support(MPIX_GPU_SUPPORT_CUDA, &is_supported) == MPI_SUCCESS &&
           is_supported;
#else
    return false;
#endif
}

bool ranks_gpu_aware(void)
{
    const char *const told = getenv("MINIAPP_GPU_AWARE");
    return told && told[0] ? strcmp(told, "0") != 0 : is_aware();
}

/* Runs even if argp or a library ends the process: all ranks then do the same. */
static void finalize(void)
{
    int is_final;
    MPI_Finalized(&is_final);
    if (!is_final)
        MPI_Finalize();
}

static MPI_Comm node;

static void find_ranks(void)
{
    MPI_Comm_size(MPI_COMM_WORLD, &ranks_found.count);
    MPI_Comm_rank(MPI_COMM_WORLD, &ranks_found.own);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, ranks_own(), MPI_INFO_NULL, &node);
    MPI_Comm_rank(node, &ranks_found.local);
    MPI_Comm_size(node, &ranks_found.on_node);
}

enum miniapp_status ranks_start(int *argc, char ***argv)
{
    int level;
    if (MPI_Init_thread(argc, argv, MPI_THREAD_FUNNELED, &level) != MPI_SUCCESS)
        return fail(MINIAPP_DEVICE, "MPI cannot be started");
    find_ranks();
    atexit(finalize);
    return MINIAPP_DONE;
}

enum miniapp_status miniapp_join(int processes)
{
    int is_started;
    MPI_Initialized(&is_started);
    if (!is_started && processes > 1)
        return fail(MINIAPP_USAGE, "the library's MPI, %s, was not started",
                    ranks_library((char[RANKS_TEXT]){0}));
    if (is_started && ranks_count() == 1)
        find_ranks();
    return ranks_count() == processes
               ? MINIAPP_DONE
               : fail(MINIAPP_USAGE, "the library's MPI has %d processes, not %d", ranks_count(),
                      processes);
}

static void (*end)(enum miniapp_status);

/* ---- agreements ---- */

/* One reduction finds the largest of each number. The first number tells which rank is the lowest
 * that has failed, and its status: it is status + (ranks - rank) * 256, or 0 if none has failed. */
enum miniapp_status ranks_agree_on(enum miniapp_status status, double *numbers, size_t many)
{
    double mine[1 + MOST_AGREED] = {0}, most[1 + MOST_AGREED];
    if (ranks_count() == 1 && !agreed) /* a client of the library may not have started MPI */
        agreed = status;
    if (agreed || ranks_count() == 1)
        return agreed;
    mine[0] = status ? (double)status + 256.0 * (ranks_count() - ranks_own()) : 0;
    for (size_t i = 0; i < many; i++)
        mine[1 + i] = numbers[i];
    MPI_Allreduce(mine, most, 1 + MOST_AGREED, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    for (size_t i = 0; i < many; i++)
        numbers[i] = most[1 + i];
    const int all = (int)most[0];
    const enum miniapp_status of_all = (enum miniapp_status)(all % 256);
    if (of_all)
        failed = ranks_count() - all / 256;
    if (end)
        agreed = of_all;
    return of_all;
}

int ranks_failed(void)
{
    return failed < 0 ? ranks_own() : failed;
}

void ranks_meet(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
}

void ranks_install_end(void (*end_all)(enum miniapp_status))
{
    end = end_all;
}

enum miniapp_status ranks_end_all(enum miniapp_status status)
{
    if (end && ranks_count() > 1)
        end(status);
    return status;
}

/* ---- messages ---- */

enum { TO_ONE = 100 }; /* a tag; those of neighbours are smaller */

/* MPI counts bytes in an int, so larger messages are sent in several parts. */
static const size_t most_bytes = (size_t)1 << 30;

static int next_part(size_t bytes, size_t done)
{
    return (int)(bytes - done < most_bytes ? bytes - done : most_bytes);
}

/* The requests of messages in flight. The parts of a message have the same tag, and MPI keeps their
 * order. */
enum { MOST_REQUESTS = 256 };
static MPI_Request requests[MOST_REQUESTS];
static int pending;

static MPI_Request *next_request(void)
{
    if (pending == MOST_REQUESTS)
        ranks_exchange_ended(true);
    return &requests[pending++];
}

void ranks_exchange_begin(const struct message *messages, size_t many)
{
    size_t longest = 0;
    for (size_t i = 0; i < many; i++)
        longest = messages[i].bytes > longest ? messages[i].bytes : longest;
    for (size_t done = 0; done < longest; done += most_bytes) {
        for (size_t i = 0; i < many; i++)
            if (done < messages[i].bytes)
                MPI_Irecv((char *)messages[i].in + done, next_part(messages[i].bytes, done),
                          MPI_BYTE, messages[i].rank, messages[i].received_as, MPI_COMM_WORLD,
                          next_request());
        for (size_t i = 0; i < many; i++)
            if (done < messages[i].bytes)
                MPI_Isend((char *)messages[i].out + done, next_part(messages[i].bytes, done),
                          MPI_BYTE, messages[i].rank, messages[i].sent_as, MPI_COMM_WORLD,
                          next_request());
    }
}

bool ranks_exchange_ended(bool waits)
{
    int has_ended = true;
    if (waits)
        MPI_Waitall(pending, requests, MPI_STATUSES_IGNORE);
    else
        MPI_Testall(pending, requests, &has_ended, MPI_STATUSES_IGNORE);
    if (has_ended)
        pending = 0;
    return has_ended;
}

void ranks_send(int rank, const void *memory, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += most_bytes)
        MPI_Send((const char *)memory + done, next_part(bytes, done), MPI_BYTE, rank, TO_ONE,
                 MPI_COMM_WORLD);
}

void ranks_receive(int rank, void *memory, size_t bytes)
{
    for (size_t done = 0; done < bytes; done += most_bytes)
        MPI_Recv((char *)memory + done, next_part(bytes, done), MPI_BYTE, rank, TO_ONE,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

void ranks_reduce(enum ranks_operation operation, double *numbers, size_t many)
{
    if (ranks_count() > 1)
        MPI_Allreduce(MPI_IN_PLACE, numbers, (int)many, MPI_DOUBLE,
                      operation == RANKS_LARGEST ? MPI_MAX : MPI_SUM,
                      operation == RANKS_SUM_ON_NODE ? node : MPI_COMM_WORLD);
}

void ranks_broadcast(enum ranks_group group, void *memory, size_t bytes)
{
    for (size_t done = 0; done < bytes && ranks_count() > 1; done += most_bytes)
        MPI_Bcast((char *)memory + done, next_part(bytes, done), MPI_BYTE, 0,
                  group == RANKS_OF_NODE ? node : MPI_COMM_WORLD);
}
