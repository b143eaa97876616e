/* How an input is to be read. */
#include "input.h"
#include "program.h"
#include "status.h"
#include "suggest.h"

#include <stdlib.h>
#include <string.h>

struct miniapp_input_options *miniapp_input_options_create(void)
{
    return calloc(1, sizeof(struct miniapp_input_options));
}

void miniapp_input_options_free(struct miniapp_input_options *options)
{
    for (size_t id = 0; options && id < MOST_FIELDS; id++)
        free(options->variable[id]);
    free(options);
}

void miniapp_input_options_allow(struct miniapp_input_options *options, int allow)
{
    options->allow |= allow;
}

void miniapp_input_options_set_time(struct miniapp_input_options *options, long long index)
{
    options->time = (struct time_choice){.is_chosen = true, .index = index};
}

void miniapp_input_options_share(struct miniapp_input_options *options, int number, int of)
{
    options->strip = number;
    options->strips = of;
}

enum miniapp_status miniapp_input_options_set_variable(struct miniapp_input_options *options,
                                                       const char *name, const char *dataset)
{
    const struct miniapp_field *const field = miniapp_field_find(name);
    const char *names[MOST_FIELDS];
    const size_t count = miniapp_field_count(); /* another thread may add some */
    for (size_t id = 1; id <= count; id++)
        names[id - 1] = fields[id].name;
    if (!field)
        return fail(MINIAPP_USAGE, "unknown field '%s'%s", name,
                    suggestion(name, names, count, (char[SUGGESTION]){0}));
    free(options->variable[field_id(field)]);
    options->variable[field_id(field)] = strdup(dataset);
    return options->variable[field_id(field)] ? MINIAPP_DONE
                                              : fail(MINIAPP_DEVICE, "out of memory for a name");
}
