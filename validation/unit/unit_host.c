/*
 * The processor that the host's kernels ask for, and where their memory lies in cache lines.
 */
#include "device.h"
#include "program.h"
#include "unit.h"

#include <stdio.h>

extern const char *const host_features[];

TEST(this_processor_has_what_was_compiled_for)
{
    assert_null(missing_feature(host_features));
    assert_null(missing_feature((const char *const[]){NULL}));
}

TEST(what_is_missing_is_named)
{
    const char *const features[] = {"of the future", "of another future", NULL};
    assert_string_equal(missing_feature(features), "of the future");
}

/* The name of a processor that has such a /proc/cpuinfo. */
static const char *said_of(const char *cpuinfo)
{
    static char text[MINIAPP_PROCESSOR];
    char path[] = "/tmp/miniapp-cpuinfo-XXXXXX";
    FILE *const file = fdopen(mkstemp(path), "w");
    assert_non_null(file);
    fputs(cpuinfo, file);
    fclose(file);
    const char *const said = processor_in(path, text);
    remove(path);
    return said;
}

TEST(a_processor_has_a_name_or_numbers)
{
    assert_string_equal(said_of("processor\t: 0\nmodel name\t: A CPU @ 3 GHz\n"), "A CPU @ 3 GHz");
    assert_string_equal(said_of("CPU implementer\t: 0x41\nCPU variant\t: 0x0\nCPU part\t: 0xd4f\n"),
                        "ARM, implementer 0x41, part 0xd4f");
    assert_string_equal(said_of("CPU implementer\t: 0x41\n"), "unknown processor");
    assert_string_equal(said_of(""), "unknown processor");
}

TEST(memory_lies_ahead_of_a_cache_line)
{
    for (size_t ahead = 0; ahead <= 64; ahead += 8) {
        char *const memory = host_backend.allocate(0, 100, ahead);
        assert_non_null(memory);
        assert_int_equal((uintptr_t)(memory + ahead) % 64, 0);
        memory[99] = 1;
        host_backend.release(0, memory);
    }
}

RUN_TESTS(NULL, NULL)
