/* Texts of the provenance: those that are too long are cut, but still tell all others apart. */
#include "provenance.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

static struct provenance provenance;

static void test_long_texts_differ_in_any_character(void **state)
{
    static char text[2 * PROVENANCE_TEXT];
    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    provenance_add(&provenance, "one", text);
    text[sizeof(text) - 2] = 'b';
    provenance_add(&provenance, "other", text);
    const char *const one = provenance_text(&provenance, "one");
    assert_int_equal(strlen(one), PROVENANCE_TEXT - 1);
    assert_non_null(strstr(one, "aaa... of SHA-256 "));
    assert_string_not_equal(one, provenance_text(&provenance, "other"));
}

static void test_texts_that_fit_are_kept(void **state)
{
    static char text[PROVENANCE_TEXT];
    (void)state;
    memset(text, 'a', sizeof(text) - 1);
    provenance_add(&provenance, "one", text);
    assert_string_equal(provenance_text(&provenance, "one"), text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_long_texts_differ_in_any_character),
        cmocka_unit_test(test_texts_that_fit_are_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
