/*
 * What the host's kernels ask of the processor.
 */
#include "host.h"
#include "unit.h"

extern const char *const host_features[];

static void this_processor_has_what_was_compiled_for(void **state)
{
    assert_null(missing_feature(host_features));
    assert_null(missing_feature((const char *const[]){NULL}));
}

static void what_is_missing_is_named(void **state)
{
#if defined(__x86_64__)
    const char *const features[] = {"of the future", "of another future", NULL};
    assert_string_equal(missing_feature(features), "of the future");
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(this_processor_has_what_was_compiled_for),
        cmocka_unit_test(what_is_missing_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
