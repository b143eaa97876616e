/*
 * What the host's kernels ask of the processor.
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

RUN_TESTS(NULL, NULL)
