/* The table of targets: how they are spelled, and which GPUs a build's code fits. */
#include "target.h"
#include "unit.h"

static bool parse(const char *text, struct target *target)
{
    return target_parse(text, strlen(text), target);
}

TEST(test_spellings)
{
    static const char *const spelled[] = {"nvidia:sm_80", "nvidia:sm_90a", "nvidia:sm_120",
                                          "amd:gfx90a",   "amd:gfx1100",   "emulated"};
    for (size_t i = 0; i < sizeof(spelled) / sizeof(*spelled); i++) {
        struct target target;
        char text[TARGET_TEXT];
        assert_true(parse(spelled[i], &target));
        target_print(&target, text);
        assert_string_equal(text, spelled[i]);
    }
}

TEST(test_what_is_no_target)
{
    static const char *const wrong[] = {"",
                                        ":",
                                        "sm_80",
                                        "x86_64",
                                        "host",
                                        "none",
                                        "nvidia",
                                        "nvidia:",
                                        "nvidia:80",
                                        "nvidia:sm_",
                                        "nvidia:sm_8",
                                        "nvidia:sm_80b",
                                        "nvidia:sm_90aa",
                                        "nvidia:sm_-80",
                                        "nvidia:sm_100000",
                                        "nvidia:gfx90a",
                                        "amd",
                                        "amd:gfx",
                                        "amd:gfx90a:xnack+",
                                        "amd:gfx90g",
                                        "amd:sm_90",
                                        "emulated:x86_64",
                                        "Nvidia:sm_80",
                                        "nvidia:sm_80,nvidia:sm_90",
                                        "nvidia:sm_80                                            "};
    for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
        struct target target;
        if (parse(wrong[i], &target))
            fail_msg("'%s' was taken for a target", wrong[i]);
    }
}

TEST(test_kinds)
{
    enum target_kind kind;
    assert_true(target_kind_find("nvidia:1", 6, &kind));
    assert_int_equal(kind, TARGET_NVIDIA);
    assert_true(target_kind_find("amd", 3, &kind));
    assert_string_equal(target_kind_name(kind), "amd");
    assert_false(target_kind_find("nvidia", 5, &kind));
    assert_false(target_kind_find("gpu", 3, &kind));
    assert_false(target_kind_find("host", 4, &kind)); /* no offload device */
    assert_string_equal(target_kind_name(TARGET_HOST), "host");
}

TEST(test_which_gpus_code_fits)
{
    static const struct {
        const char *code, *gpu;
        bool machine_code, assembled;
    } rows[] = {
        {"nvidia:sm_80", "nvidia:sm_80", true, true},
        {"nvidia:sm_80", "nvidia:sm_86", true, true},   /* the same generation, newer */
        {"nvidia:sm_86", "nvidia:sm_80", false, false}, /* older */
        {"nvidia:sm_80", "nvidia:sm_90", false, true},  /* the next generation */
        {"nvidia:sm_90", "nvidia:sm_100", false, true},
        {"nvidia:sm_100", "nvidia:sm_90", false, false},
        {"nvidia:sm_90a", "nvidia:sm_90", true, true},
        {"nvidia:sm_90a", "nvidia:sm_100", false, false},
        {"nvidia:sm_80,nvidia:sm_90", "nvidia:sm_75", false, false},
        {"nvidia:sm_80,nvidia:sm_90", "nvidia:sm_90", true, true},
        {"nvidia:sm_90,nvidia:sm_80", "nvidia:sm_86", true, true},
        {"amd:gfx90a", "amd:gfx90a", true, true},
        {"amd:gfx90a", "amd:gfx942", false, false},
        {"amd:gfx908,amd:gfx90a", "amd:gfx90a", true, true},
        {"amd:gfx90a", "nvidia:sm_90", false, false},
        {"", "nvidia:sm_90", false, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct target gpu;
        assert_true(parse(rows[i].gpu, &gpu));
        if (targets_fit(rows[i].code, false, &gpu) != rows[i].machine_code ||
            targets_fit(rows[i].code, true, &gpu) != rows[i].assembled)
            fail_msg("'%s' on %s", rows[i].code, rows[i].gpu);
    }
}

RUN_TESTS(NULL, NULL)
