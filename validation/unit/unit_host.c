/*
 * The processor that the host's kernels ask for, and where their memory lies in cache lines.
 */
#include "host.h"
#include "unit.h"

extern const char *const host_features[];

TEST(this_processor_has_what_was_compiled_for)
{
    assert_null(missing_feature(host_features));
    assert_null(missing_feature((const char *const[]){NULL}));
}

TEST(what_is_missing_is_named)
{
#if defined(__x86_64__)
    const char *const features[] = {"of the future", "of another future", NULL};
    assert_string_equal(missing_feature(features), "of the future");
#endif
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
