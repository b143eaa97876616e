/* What the reader made of a file, in words for the provenance. */
#include "input.h"

#include "program.h"

#include <stdio.h>
#include <string.h>

const char *miniapp_input_grid_text(const struct miniapp_input *input)
{
    return input->grid_text;
}

void describe_grid(struct miniapp_input *input)
{
    snprintf(input->grid_text, sizeof(input->grid_text), "%zu x %zu x %zu points, %s%s: %s",
             input->whole.nx, input->whole.ny, input->whole.nz,
             input->has_ghosts ? "two ghosts on each side" : "no ghosts",
             input->is_cyclic ? ", cyclic in x" : "", input->reason);
}

/* ---- what was done to fields ---- */

struct text {
    char *words;
    size_t size, used;
};

static void add(struct text *text, const char *separator, const char *words)
{
    if (text->used < text->size)
        text->used += (size_t)snprintf(text->words + text->used, text->size - text->used, "%s%s",
                                       text->used ? separator : "", words);
}

typedef bool property(const struct miniapp_input *input, enum field_id id);

static bool is_unpacked(const struct miniapp_input *input, enum field_id id)
{
    return input->treatment[id].is_unpacked;
}

static bool is_transposed(const struct miniapp_input *input, enum field_id id)
{
    return input->treatment[id].is_transposed;
}

static bool is_made(const struct miniapp_input *input, enum field_id id)
{
    return input->is_made[id];
}

static bool has_land(const struct miniapp_input *input, enum field_id id)
{
    return input->has_land[id];
}

/* "K_iso, temp: unpacked", of those that have the property. */
static void add_fields(const struct miniapp_input *input, property *has, const char *what,
                       struct text *text)
{
    const char *separator = "; ";
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++)
        if (has(input, id)) {
            add(text, separator, fields[id].name);
            separator = ", ";
        }
    if (separator[0] == ',') {
        add(text, ": ", what);
    }
}

const char *miniapp_input_text(struct miniapp_input *input)
{
    struct text text = {input->text, sizeof(input->text), 0};
    char sentence[2 * SENTENCE];
    input->text[0] = '\0';
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++)
        if (is_there(input, id) && input->is_read[id] &&
            strcmp(input->name[id], fields[id].name) != 0) {
            snprintf(sentence, sizeof(sentence), "%s is '%.200s'", fields[id].name,
                     input->name[id]);
            add(&text, "; ", sentence);
        }
    if (input->records > 0) {
        snprintf(sentence, sizeof(sentence), "record %llu in time",
                 (unsigned long long)input->record);
        add(&text, "; ", sentence);
    }
    if (input->is_surface_first)
        add(&text, "; ", "levels from the surface down, turned round");
    add_fields(input, is_transposed, "axes transposed", &text);
    add_fields(input, is_unpacked, "unpacked", &text);
    for (enum field_id id = NO_FIELD + 1; id <= miniapp_field_count(); id++)
        if (input->is_read[id] && input->conversion[id].from[0]) {
            snprintf(sentence, sizeof(sentence), "%s converted from '%s'", fields[id].name,
                     input->conversion[id].from);
            add(&text, "; ", sentence);
        }
    snprintf(sentence, sizeof(sentence), "made of %.400s", input->water_source);
    add_fields(input, is_made, sentence, &text);
    add_fields(input, has_land, "what is missing or out of range on land was replaced", &text);
    return input->text;
}
