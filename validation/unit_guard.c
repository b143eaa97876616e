/*
 * The guard of a reader: it ends a crash and a loop without an end, and what other threads compute
 * meanwhile does not count.
 */
#include "guard.h"
#include "parts.h"

#include "program.h"
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

static double computed(clockid_t clock)
{
    struct timespec time;
    assert_int_equal(clock_gettime(clock, &time), 0);
    return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static double patience(void)
{
    return 1e-3 * (double)guard_patience;
}

static void compute(double seconds)
{
    const double end = computed(CLOCK_THREAD_CPUTIME_ID) + seconds;
    while (computed(CLOCK_THREAD_CPUTIME_ID) < end)
        ;
}

static void read_for_ever(void)
{
    guard_start("loop.h5");
    compute(10 * patience());
}

static void crash(void)
{
    guard_start("crash.h5");
    raise(SIGSEGV);
}

/* In a process of someone else's, whose signals are not ours. */
static void crash_elsewhere(void)
{
    miniapp_own_process(false);
    guard_start("crash.h5");
    raise(SIGABRT);
}

static void read_in_time(void)
{
    guard_start("good.h5");
    guard_data(0, 0);
    guard_end();
}

static void read_much(void)
{
    guard_start("large.h5");
    guard_data(1000000000, 0);
    compute(1.2 * patience());
    guard_end();
}

static void read_many(void)
{
    guard_start("chunks.h5");
    guard_data(0, 100000);
    compute(1.2 * patience());
    guard_end();
}

/* Each of the links that a file has room for is progress. */
static void read_links(const char *path, int count)
{
    guard_start(path);
    for (int i = 0; i < count; i++) {
        guard_link();
        compute(0.4 * patience());
    }
    guard_end();
}

static void read_few_links(void)
{
    read_links("/proc/self/exe", 4);
}

static void read_links_for_ever(void)
{
    read_links("loop.h5", 20); /* a file of no bytes */
}

/* A record out of a chunk that holds many, which HDF5 unpacks as a whole. */
static void read_large_chunk(void)
{
    const hsize_t lengths[] = {4096, 1 << 16};
    const struct box record = {.rank = 2, .first = {7}, .count = {1, 1 << 16}};
    const hid_t access = H5Pcreate(H5P_FILE_ACCESS), creation = H5Pcreate(H5P_DATASET_CREATE);
    const hid_t space = H5Screate_simple(2, lengths, NULL);
    char *const values = calloc(lengths[0], lengths[1]);
    H5Pset_fapl_core(access, 1 << 20, false);
    H5Pset_chunk(creation, 2, lengths);
    H5Pset_deflate(creation, 1);
    const hid_t file = H5Fcreate("chunk.h5", H5F_ACC_TRUNC, H5P_DEFAULT, access);
    const hid_t dataset =
        H5Dcreate2(file, "d", H5T_NATIVE_CHAR, space, H5P_DEFAULT, creation, H5P_DEFAULT);
    H5Dwrite(dataset, H5T_NATIVE_CHAR, H5S_ALL, H5S_ALL, H5P_DEFAULT, values);
    guard_start("chunk.h5");
    const herr_t error = read_parts(dataset, H5T_NATIVE_CHAR, &record, values);
    guard_end();
    free(values);
    _exit(error < 0 ? MINIAPP_INPUT : MINIAPP_DONE);
}

static void compute_after_reading(void)
{
    read_in_time();
    compute(1.2 * patience());
}

static void *compute_long(void *nothing)
{
    compute(0.75 * patience()); /* two of them take more */
    return nothing;
}

/* As the OpenMP runtime's threads do, which spin while the file is read. */
static void read_while_others_compute(void)
{
    pthread_t others[2];
    guard_start("good.h5");
    for (int i = 0; i < 2; i++)
        pthread_create(&others[i], NULL, compute_long, NULL);
    for (int i = 0; i < 2; i++)
        pthread_join(others[i], NULL);
    guard_end();
}

/* Runs it in a process of its own; the exit code, and what it wrote to stderr. */
static int outcome(void (*reader)(void), char line[256])
{
    int pipes[2], status;
    assert_int_equal(pipe(pipes), 0);
    const pid_t child = fork();
    if (child == 0) {
        dup2(pipes[1], STDERR_FILENO);
        reader();
        _exit(MINIAPP_DONE);
    }
    close(pipes[1]);
    const ssize_t length = read(pipes[0], line, 255);
    line[length > 0 ? length : 0] = '\0';
    close(pipes[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
}

static void passes(void (*reader)(void))
{
    char line[256];
    assert_int_equal(outcome(reader, line), MINIAPP_DONE);
    assert_string_equal(line, "");
}

static void what_is_read_in_time_passes(void **state)
{
    (void)state;
    passes(read_in_time);
    passes(read_much);
    passes(read_many);
    passes(read_few_links);
    passes(read_large_chunk);
}

static void what_follows_the_reading_does_not_count(void **state)
{
    (void)state;
    passes(compute_after_reading);
}

static void what_other_threads_compute_does_not_count(void **state)
{
    (void)state;
    passes(read_while_others_compute);
}

static void a_crash_is_one_line(void **state)
{
    char line[256];
    (void)state;
    assert_int_equal(outcome(crash, line), MINIAPP_INPUT);
    assert_string_equal(line, "miniapp: crash.h5: a damaged file: the HDF5 library crashed while "
                              "it read it\n");
}

static void the_signals_of_others_stay_theirs(void **state)
{
    char line[256];
    (void)state;
    assert_int_equal(outcome(crash_elsewhere, line), -SIGABRT);
    assert_string_equal(line, "");
}

static void a_loop_without_end_is_one_line(void **state)
{
    static void (*const readers[])(void) = {read_for_ever, read_links_for_ever};
    char line[256];
    (void)state;
    for (size_t i = 0; i < sizeof(readers) / sizeof(*readers); i++) {
        assert_int_equal(outcome(readers[i], line), MINIAPP_INPUT);
        assert_string_equal(line, "miniapp: loop.h5: a damaged file: the HDF5 library came to no "
                                  "end while it read it\n");
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_read_in_time_passes),
        cmocka_unit_test(what_follows_the_reading_does_not_count),
        cmocka_unit_test(what_other_threads_compute_does_not_count),
        cmocka_unit_test(a_crash_is_one_line),
        cmocka_unit_test(the_signals_of_others_stay_theirs),
        cmocka_unit_test(a_loop_without_end_is_one_line),
    };
    guard_patience = 100; /* it is computing that counts, so a busy machine does not matter */
    miniapp_own_process(true);
    return cmocka_run_group_tests(tests, NULL, NULL);
}
