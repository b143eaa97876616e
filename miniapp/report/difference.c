/* Whether an earlier run may be gone on with. */
#include "provenance.h"
#include "status.h"

#include <stdio.h>
#include <string.h>

enum { SETTING_TEXT = 128 /* NAME=VALUE */, SAID_TEXT = 2 * PROVENANCE_TEXT + SETTING_TEXT };

/* How often two runs differ, and what each of them says where they do for the first time. */
struct difference {
    size_t count;
    char then[SAID_TEXT], now[SAID_TEXT];
};

/* "NAME=TEXT", or "no NAME" */
static void say(const char *name, size_t length, const char *text, char said[SAID_TEXT])
{
    if (text[0])
        snprintf(said, SAID_TEXT, "%.*s=%s", (int)length, name, text);
    else
        snprintf(said, SAID_TEXT, "no %.*s", (int)length, name);
}

/* The name need not end after `length` characters. Returns whether it is the first difference. */
static bool compare_values(struct difference *found, const char *name, size_t length,
                           const char *then, const char *now)
{
    if (strcmp(then, now) == 0 || found->count++ > 0)
        return false;
    say(name, length, then, found->then);
    say(name, length, now, found->now);
    return true;
}

/* ---- settings: "NAME=VALUE NAME=VALUE ..." ---- */

static const char *next_word(const char *word)
{
    word += strcspn(word, " ");
    return word + strspn(word, " ");
}

/* The value of a setting; "" if it is not there. */
static const char *value_in(const char *all, const char *name, size_t length,
                            char value[SETTING_TEXT])
{
    value[0] = '\0';
    for (const char *word = all; *word; word = next_word(word))
        if (strncmp(word, name, length) == 0 && word[length] == '=')
            snprintf(value, SETTING_TEXT, "%.*s", (int)(strcspn(word, " ") - length - 1),
                     word + length + 1);
    return value;
}

/* One by one, since programs may know different ones. */
static void compare_settings(struct difference *found, const char *then, const char *now)
{
    char before[SETTING_TEXT], after[SETTING_TEXT];
    for (const char *word = then; *word; word = next_word(word)) {
        const size_t length = strcspn(word, "= ");
        compare_values(found, word, length, value_in(then, word, length, before),
                       value_in(now, word, length, after));
    }
    for (const char *word = now; *word; word = next_word(word)) {
        const size_t length = strcspn(word, "= ");
        if (!value_in(then, word, length, before)[0])
            compare_values(found, word, length, before, value_in(now, word, length, after));
    }
}

/* ---- all items ---- */

static void append_file(char said[SAID_TEXT], const struct provenance *provenance)
{
    const char *const file = provenance_text(provenance, "input");
    const size_t used = strlen(said);
    if (file[0])
        snprintf(said + used, SAID_TEXT - used, " of %s", file);
}

/* A digest says nothing to people without the name of its file. */
static void compare_item(struct difference *found, const struct provenance *then,
                         const struct provenance *now, const char *name)
{
    const char *const before = provenance_text(then, name);
    const char *const after = provenance_text(now, name);
    if (strcmp(name, "settings") == 0) {
        compare_settings(found, before, after);
    } else if (compare_values(found, name, strlen(name), before, after) &&
               strcmp(name, "input_sha256") == 0) {
        append_file(found->then, then);
        append_file(found->now, now);
    }
}

enum miniapp_status check_alike(const char *path, const char *what, const struct provenance *then,
                                const struct provenance *now, const char *const *names,
                                size_t count)
{
    struct difference found = {0};
    char more[64] = "";
    for (size_t i = 0; i < count; i++)
        compare_item(&found, then, now, names[i]);
    if (found.count > 1)
        snprintf(more, sizeof(more), "; %zu more differ%s", found.count - 1,
                 found.count == 2 ? "s" : "");
    return found.count == 0
               ? MINIAPP_DONE
               : fail(MINIAPP_INPUT, "%s: %s: it was made with %s, but this run has %s%s", path,
                      what, found.then, found.now, more);
}
