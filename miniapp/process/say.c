#include "progress.h"
#include "ranks.h"
#include "run.h"
#include "status.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

struct held {
    char *text;
    size_t bytes;
    FILE *lines;
};
static struct held failures, warnings;

static void hold(struct held *held, const char *line)
{
    if (!held->lines)
        held->lines = open_memstream(&held->text, &held->bytes);
    if (held->lines)
        fprintf(held->lines, "%s\n", line);
}

static const char *text_of(const struct held *held)
{
    return held->lines && fflush(held->lines) == 0 ? held->text : "";
}

static void release_held(struct held *held)
{
    if (held->lines)
        fclose(held->lines);
    free(held->text);
    *held = (struct held){0};
}

static void print_lines(const char *prefix, const char *lines)
{
    for (const char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1)
        fprintf(stderr, "miniapp: %s%.*s\n", prefix, (int)(end - line), line);
}

void say_failures(bool speaks)
{
    if (speaks)
        print_lines("", text_of(&failures));
    release_held(&failures);
}

/* Runs even if argp ends the process. */
static void say_at_end(void)
{
    say_failures(true);
}

static void hold_line(enum miniapp_status status, const char *line)
{
    if (ranks_count() > 1 && status) {
        hold(&failures, line);
        return;
    }
    if (ranks_own() == 0) {
        progress_clear();
        fprintf(stderr, "miniapp: %s%s\n", status ? "" : "warning: ", line);
    }
    if (!status)
        hold(&warnings, line);
}

void say_all(void)
{
    miniapp_listen(hold_line);
    atexit(say_at_end);
}

/* Prints the lines that were not printed before, and keeps them. */
static void say_new(char *lines)
{
    for (char *line = lines, *end; (end = strchr(line, '\n')) != NULL; line = end + 1) {
        *end = '\0';
        if (!strstr(text_of(&warnings), line))
            hold_line(MINIAPP_DONE, line);
    }
}

void say_warnings(void)
{
    const char *const own = text_of(&warnings);
    size_t bytes = strlen(own);
    for (int rank = 1; rank < ranks_count() && ranks_own() == 0; rank++) {
        ranks_receive(rank, &bytes, sizeof(bytes));
        char *const lines = malloc(bytes + 1);
        if (!lines) {
            ranks_end_all(fail(MINIAPP_DEVICE, "out of memory for warnings"));
            return;
        }
        ranks_receive(rank, lines, bytes);
        lines[bytes] = '\0';
        say_new(lines);
        free(lines);
    }
    if (ranks_own() == 0)
        return;
    ranks_send(0, &bytes, sizeof(bytes));
    ranks_send(0, own, bytes);
    release_held(&warnings);
}

const char *warnings_so_far(void)
{
    return text_of(&warnings);
}
