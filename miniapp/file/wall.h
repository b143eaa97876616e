/* The streamfunction's corners on the southern wall, where it is the transport around that wall:
 * they lie in ghosts. A dataset without ghosts has them as an attribute, a number for each column.
 */
#ifndef WALL_H
#define WALL_H

#include "program.h"

#include <hdf5.h>

/* Gathers the wall's values and makes them an attribute of a dataset; one below 0 is another
 * process's. */
enum miniapp_status write_wall(struct miniapp_output *output, hid_t dataset,
                               struct miniapp_state *state, const char *name);

/* Reads the attribute, and puts its values where they are in a state's field of that name: 0 if it
 * is not there. `allow` is that of miniapp_input_options. */
enum miniapp_status read_wall(hid_t dataset, const char *path, struct miniapp_state *state,
                              const struct miniapp_field *field, const char *name, int allow,
                              bool *found);

#endif
