/* The host's threads: how many, on which CPUs, and whether they can be started at all. */
#include "cgroup.h"
#include "device.h"
#include "program.h"
#include "status.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <omp.h>
#include <pthread.h>
#include <sched.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

/* The smaller of the affinity mask and the quota of the control group. */
int miniapp_host_cpus(void)
{
    const int procs = omp_get_num_procs();
    const double quota = ceil(cgroup_cpus());
    return quota < procs ? (int)fmax(quota, 1) : procs;
}

/* ---- the environment ---- */

/* Whether a text is a list of whole numbers from 1 on, with commas between: the threads at each
 * level of nested parallel regions. */
static bool is_list_of_threads(const char *text)
{
    for (;; text++) {
        char *end;
        text += strspn(text, " ");
        const unsigned long threads = isdigit((unsigned char)*text) ? strtoul(text, &end, 10) : 0;
        if (threads < 1 || threads > MAX_THREADS)
            return false;
        text = end + strspn(end, " ");
        if (*text != ',')
            return !*text;
    }
}

/* libomp aborts on a value that it cannot read, be it empty, and takes the last digits of one that
 * is too large. */
static enum miniapp_status check_count(char reason[DEVICE_TEXT])
{
    static const char name[] = "OMP_NUM_THREADS";
    const char *const threads = getenv(name);
    if (threads && !threads[0])
        unsetenv(name);
    if (!threads || !threads[0] || is_list_of_threads(threads))
        return MINIAPP_DONE;
    snprintf(reason, DEVICE_TEXT, "%s is '%.64s', but must be a whole number from 1 to %d", name,
             threads, MAX_THREADS);
    return MINIAPP_USAGE;
}

#if defined(__clang__)
/* libomp notes in shared memory that the process has it. It ends by SIGBUS where it finds no page
 * left there, or an empty note, which is that of a killed process of the same number. Where it may
 * not write, it does without. */
static enum miniapp_status check_shared_memory(char reason[DEVICE_TEXT])
{
    struct statvfs shared;
    struct stat there;
    char note[64];
    snprintf(note, sizeof(note), "/dev/shm/__KMP_REGISTERED_LIB_%d_%d", (int)getpid(),
             (int)getuid());
    const bool has_note = stat(note, &there) == 0;
    if (has_note && there.st_size == 0)
        unlink(note);
    else if (has_note)
        return MINIAPP_DONE;
    if (access("/dev/shm", W_OK) != 0 || statvfs("/dev/shm", &shared) != 0 ||
        shared.f_blocks == 0 || shared.f_bavail > 0)
        return MINIAPP_DONE;
    snprintf(reason, DEVICE_TEXT, "/dev/shm is full, but the OpenMP runtime needs a page of it");
    return MINIAPP_DEVICE;
}

static const char *const names_of_stack[] = {"KMP_STACKSIZE", "OMP_STACKSIZE", "GOMP_STACKSIZE"};

static size_t stack_of_threads(void)
{
    return kmp_get_stacksize_s();
}
#else
static enum miniapp_status check_shared_memory(char reason[DEVICE_TEXT])
{
    (void)reason;
    return MINIAPP_DONE;
}

static const char *const names_of_stack[] = {"OMP_STACKSIZE", "GOMP_STACKSIZE"};

/* Reads a stack size as GCC's runtime does: a whole number and perhaps a unit, with spaces around
 * both. The runtime warns of anything else, and takes the system's size. */
static bool read_stack(const char *text, size_t *bytes)
{
    static const char units[] = "bkmg";
    char *end;
    text += strspn(text, " \t");
    errno = 0;
    const unsigned long long number = isdigit((unsigned char)*text) ? strtoull(text, &end, 10) : 0;
    if (errno || !isdigit((unsigned char)*text))
        return false;
    end += strspn(end, " \t");
    const char *const unit = *end ? strchr(units, tolower((unsigned char)*end)) : &units[1];
    const int shift = unit ? 10 * (int)(unit - units) : 0;
    end += *end ? 1 + strspn(end + 1, " \t") : 0;
    if (!unit || *end || number > SIZE_MAX >> shift)
        return false;
    *bytes = (size_t)number << shift;
    return true;
}

static size_t stack_of_threads(void)
{
    const size_t names = sizeof(names_of_stack) / sizeof(*names_of_stack);
    pthread_attr_t attributes;
    size_t bytes = 0;
    for (size_t i = 0; i < names; i++) {
        const char *const text = getenv(names_of_stack[i]);
        if (text && read_stack(text, &bytes))
            return bytes;
    }
    pthread_getattr_default_np(&attributes);
    pthread_attr_getstacksize(&attributes, &bytes);
    pthread_attr_destroy(&attributes);
    return bytes;
}
#endif

/* Before the first call of the runtime. */
static enum miniapp_status check_surroundings(char reason[DEVICE_TEXT])
{
    TRY(check_count(reason));
    return check_shared_memory(reason);
}

/* A thread would crash, and not say why. */
static enum miniapp_status check_stack(size_t bytes, char reason[DEVICE_TEXT])
{
    const size_t names = sizeof(names_of_stack) / sizeof(*names_of_stack);
    size_t i = 0;
    if (bytes / 1024 >= LEAST_STACK)
        return MINIAPP_DONE;
    while (i + 1 < names && !getenv(names_of_stack[i]))
        i++;
    const char *const value = getenv(names_of_stack[i]);
    snprintf(reason, DEVICE_TEXT, "%s is '%.64s', but must be %dK or more", names_of_stack[i],
             value ? value : "", LEAST_STACK);
    return MINIAPP_USAGE;
}

/* ---- starting threads ---- */

static pthread_mutex_t gate = PTHREAD_MUTEX_INITIALIZER;

/* First it takes what malloc keeps for each thread, as one of the runtime will; without `volatile`,
 * a compiler leaves that out. */
static void *wait_at_gate(void *has_started)
{
    void *volatile memory = malloc(1);
    free(memory);
    sem_post(has_started);
    pthread_mutex_lock(&gate);
    pthread_mutex_unlock(&gate);
    return NULL;
}

/* Memory that a thread of the runtime takes beside its stack. As glibc keeps stacks of threads that
 * have ended, they then also are large enough for the runtime. */
static const size_t beside_stack = 1 << 20;

/* Starts so many threads, and ends them; returns what hindered it, or 0. */
static int try_to_start(int count, size_t stack)
{
    pthread_t *const threads = calloc((size_t)count, sizeof(*threads));
    pthread_attr_t attributes;
    sem_t has_started;
    int started = 0, error = threads ? 0 : ENOMEM;
    pthread_attr_init(&attributes);
    if (!error)
        error = stack > SIZE_MAX - beside_stack
                    ? ENOMEM
                    : pthread_attr_setstacksize(&attributes, stack + beside_stack);
    sem_init(&has_started, 0, 0);
    pthread_mutex_lock(&gate);
    while (!error && started < count) {
        error = pthread_create(&threads[started], &attributes, wait_at_gate, &has_started);
        started += !error;
        while (!error && sem_wait(&has_started) != 0)
            continue; /* a signal came */
    }
    pthread_mutex_unlock(&gate);
    for (int i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    sem_destroy(&has_started);
    pthread_attr_destroy(&attributes);
    free(threads);
    return error;
}

/* ---- forks ---- */

static atomic_bool had_threads, is_forked;
static _Thread_local int tried; /* the threads that this one was found to be able to start */

/* A forked child has the memory of its parent, but none of the runtime's threads. */
static void note_fork(void)
{
    tried = 0;
    is_forked = had_threads;
}

static void watch_forks(void)
{
    pthread_atfork(NULL, NULL, note_fork);
}

/* LLVM's runtime starts new threads in a child; GCC's would wait for its parent's. */
static bool may_start_threads(void)
{
#if defined(__clang__)
    return true;
#else
    return !is_forked;
#endif
}

enum miniapp_status threads_refused(int threads, char reason[DEVICE_TEXT])
{
    static pthread_once_t watching = PTHREAD_ONCE_INIT;
    if (tried > 0 && tried >= (threads > 0 ? threads : omp_get_max_threads()))
        return MINIAPP_DONE;
    pthread_once(&watching, watch_forks);
    TRY(check_surroundings(reason));
    if (!may_start_threads()) {
        omp_set_num_threads(tried = 1);
        snprintf(reason, DEVICE_TEXT,
                 "this process was forked from one that had run threads, and GCC's runtime gives "
                 "it no others");
        return threads > 1 ? MINIAPP_DEVICE : MINIAPP_DONE;
    }
    const size_t stack = stack_of_threads();
    TRY(check_stack(stack, reason));
    const int limit = omp_get_thread_limit(), most = omp_get_max_threads();
    const int wanted = threads > 0 ? threads : most, count = wanted < limit ? wanted : limit;
    const int error = count < 2 ? 0 : try_to_start(count - 1, stack);
    if (error) {
        snprintf(reason, DEVICE_TEXT,
                 "%d threads with stacks of %.4g MB cannot be started (%s): take fewer threads, a "
                 "smaller OMP_STACKSIZE, or higher limits (ulimit -u, ulimit -v)",
                 count, (double)stack / 1e6, strerror(error));
        return MINIAPP_DEVICE;
    }
    tried = wanted;
    had_threads = had_threads || count > 1;
    return MINIAPP_DONE;
}

/* ---- how many ---- */

/* The threads are counted, because a limit of the runtime may leave fewer than were asked for. */
int miniapp_host_threads(void)
{
    char reason[DEVICE_TEXT];
    int threads = 1;
    if (threads_refused(0, reason))
        return threads;
#pragma omp parallel
#pragma omp single
    threads = omp_get_num_threads();
    return threads;
}

enum miniapp_status miniapp_host_set_threads(int threads)
{
    static int at_first;
    char reason[DEVICE_TEXT];
    if (threads < 0 || threads > MAX_THREADS)
        return fail(MINIAPP_USAGE, "there can be 1 to %d threads, not %d", MAX_THREADS, threads);
    enum miniapp_status status = check_surroundings(reason);
    if (!status && !at_first)
        at_first = getenv("OMP_NUM_THREADS") ? omp_get_max_threads() : miniapp_host_cpus();
    const int wanted = threads > 0 ? threads : may_start_threads() ? at_first : 1;
    if (!status)
        status = threads_refused(wanted, reason);
    if (status)
        return fail(status, "%s", reason);
    omp_set_dynamic(0);
    omp_set_num_threads(wanted);
    return MINIAPP_DONE;
}

/* ---- where ---- */

/* A core goes by its first CPU: CPUs of one core share its units. */
static size_t core_of(size_t cpu)
{
    char path[96];
    size_t first;
    snprintf(path, sizeof(path), "/sys/devices/system/cpu/cpu%zu/topology/thread_siblings_list",
             cpu);
    return scan_lines(path, "%zu", &first) && first < MINIAPP_CORES ? first : cpu;
}

/* The calling thread counts as a part of one on each core that it may run on. */
static void add_own(const size_t cores[MINIAPP_CORES], double threads[MINIAPP_CORES],
                    double there[MINIAPP_CORES])
{
    bool may[MINIAPP_CORES] = {false};
    cpu_set_t mask;
    size_t count = 0;
    if (sched_getaffinity(0, sizeof(mask), &mask) != 0)
        return;
    for (size_t cpu = 0; cpu < MINIAPP_CORES; cpu++)
        if (CPU_ISSET(cpu, &mask) && !may[cores[cpu]]) {
            may[cores[cpu]] = true;
            count++;
        }
    for (size_t core = 0; core < MINIAPP_CORES; core++)
        if (may[core]) {
            threads[core] += 1.0 / (double)count;
            there[core] = 1;
        }
}

/* A process may use the cores of all places, too, if its first thread is bound already. */
static void add_places(const size_t cores[MINIAPP_CORES], double there[MINIAPP_CORES])
{
    for (int place = 0; place < omp_get_num_places(); place++) {
        const int count = omp_get_place_num_procs(place);
        int *const cpus = malloc((size_t)count * sizeof(*cpus));
        if (cpus)
            omp_get_place_proc_ids(place, cpus);
        for (int i = 0; i < count && cpus; i++)
            if (cpus[i] >= 0 && cpus[i] < MINIAPP_CORES)
                there[cores[cpus[i]]] = 1;
        free(cpus);
    }
}

void miniapp_host_load(double threads[MINIAPP_CORES], double there[MINIAPP_CORES])
{
    size_t cores[MINIAPP_CORES];
    memset(threads, 0, MINIAPP_CORES * sizeof(*threads));
    memset(there, 0, MINIAPP_CORES * sizeof(*there));
    for (size_t cpu = 0; cpu < MINIAPP_CORES; cpu++)
        cores[cpu] = core_of(cpu);
#pragma omp parallel num_threads(miniapp_host_threads())
#pragma omp critical
    add_own(cores, threads, there);
    add_places(cores, there);
}

/* Where only places were asked for, GCC's runtime says that threads are bound, LLVM's how. */
static const char *policy_text(int policy)
{
    switch (policy) {
    case omp_proc_bind_master: return "primary";
    case omp_proc_bind_close: return "close";
    case omp_proc_bind_spread: return "spread";
    default: return "bound";
    }
}

enum { COUNT_TEXT = 40 }; /* "1 CPU", "2 to 4 CPUs" */

static void count_cpus(int least, int most, char text[COUNT_TEXT])
{
    const size_t used = least < most ? (size_t)snprintf(text, COUNT_TEXT, "%d to ", least) : 0;
    snprintf(text + used, COUNT_TEXT - used, "%d CPU%s", most, most == 1 ? "" : "s");
}

const char *miniapp_host_binding(char text[MINIAPP_BINDING])
{
    const int policy = omp_get_proc_bind(), places = omp_get_num_places();
    const bool is_bound = policy != omp_proc_bind_false;
    int least = omp_get_num_procs(), most = is_bound ? 0 : least;
    char cpus[COUNT_TEXT];
    for (int place = 0; place < places && is_bound; place++) {
        const int own = omp_get_place_num_procs(place);
        least = own < least ? own : least;
        most = own > most ? own : most;
    }
    count_cpus(least, most, cpus);
    if (is_bound)
        snprintf(text, MINIAPP_BINDING, "%s, with %d place%s of %s", policy_text(policy), places,
                 places == 1 ? "" : "s", cpus);
    else
        snprintf(text, MINIAPP_BINDING, "none, on %s", cpus);
    return text;
}
