/* Texts of the provenance: those that are too long are cut, but still tell all others apart. */
#include "provenance.h"
#include "unit.h"

#include <stdio.h>
#include <unistd.h>

static struct provenance provenance;

TEST(test_long_texts_differ_in_any_character)
{
    static char text[2 * PROVENANCE_TEXT];
    memset(text, 'a', sizeof(text) - 1);
    provenance_add(&provenance, "one", text);
    text[sizeof(text) - 2] = 'b';
    provenance_add(&provenance, "other", text);
    const char *const one = provenance_text(&provenance, "one");
    assert_int_equal(strlen(one), PROVENANCE_TEXT - 1);
    assert_non_null(strstr(one, "aaa... of SHA-256 "));
    assert_string_not_equal(one, provenance_text(&provenance, "other"));
}

TEST(test_texts_that_fit_are_kept)
{
    static char text[PROVENANCE_TEXT];
    memset(text, 'a', sizeof(text) - 1);
    provenance_add(&provenance, "one", text);
    assert_string_equal(provenance_text(&provenance, "one"), text);
}

static void write_line(const char *folder, const char *name, const char *line)
{
    char path[128];
    snprintf(path, sizeof(path), "%s/%s", folder, name);
    FILE *const file = fopen(path, "w");
    assert_non_null(file);
    fprintf(file, "%s\n", line);
    fclose(file);
}

TEST(test_clock_of_a_cpu)
{
    static const char *const files[][2] = {{"scaling_governor", "performance"},
                                           {"cpuinfo_min_freq", "400000"},
                                           {"cpuinfo_max_freq", "3700000"}};
    char folder[] = "/tmp/miniapp-clock-XXXXXX", text[CLOCK_TEXT], path[128];
    assert_non_null(mkdtemp(folder));
    for (int i = 0; i < 3; i++) {
        assert_string_equal(clock_text(folder, text), "not known: the system has no cpufreq");
        write_line(folder, files[i][0], files[i][1]);
    }
    assert_string_equal(clock_text(folder, text), "governor performance, 400 to 3700 MHz");
    for (int i = 0; i < 3; i++) {
        snprintf(path, sizeof(path), "%s/%s", folder, files[i][0]);
        assert_int_equal(unlink(path), 0);
    }
    assert_int_equal(rmdir(folder), 0);
}

RUN_TESTS(NULL, NULL)
