#include "files.h"
#include "say.h"
#include "status.h"

size_t list_read_files(const struct run *run, const char *list[2])
{
    list[0] = run->options.input;
    list[1] = run->options.reference;
    return list[1] ? 2 : 1;
}

enum miniapp_status start_output(const struct run *run, const char *path,
                                 struct miniapp_output **output)
{
    const char *read_files[2];
    return miniapp_output_open(path, read_files, list_read_files(run, read_files), output);
}

enum miniapp_status start_end(struct run *run)
{
    const struct options *options = &run->options;
    const enum miniapp_status status = start_output(run, options->output, &run->output);
    return status || options->shapes[0].nx
               ? status
               : miniapp_output_take_coordinates(run->output, run->input);
}

enum miniapp_status finish_output(const struct run *run, struct miniapp_output *output)
{
    const struct provenance *provenance = &run->results.provenance;
    enum miniapp_status status = MINIAPP_DONE;
    for (size_t i = 0; i < provenance->count && !status; i++)
        status = miniapp_output_attribute(output, provenance->names[i], provenance->texts[i]);
    if (!status && warnings_so_far()[0])
        status = miniapp_output_attribute(output, "warnings", warnings_so_far());
    if (!status)
        return miniapp_output_finish(output);
    miniapp_output_discard(output);
    return status;
}
