/* An input that is open, for the files that make up the reader: input.c opens it, values.c reads
 * and checks a field, masks.c a mask, and what several fields say together, window.c chooses the
 * part of the file that is read, load.c brings it into states. */
#ifndef INPUT_H
#define INPUT_H

#include "hdf5_file.h"
#include "program.h"
#include "table.h"
#include "text.h"
#include "window.h"

#include <hdf5.h>
#include <stdint.h>
#include <sys/stat.h>

struct miniapp_input_options {
    int allow;
    const char *source[MOST_FIELDS]; /* another dataset that a tracer starts as, or NULL */
    int strip, strips; /* which strip of rows this process checks, of how many; or 0 */
};

struct miniapp_input {
    char *path;
    hid_t file;
    struct stat found; /* when it was opened */
    int allow;
    enum miniapp_precision precision; /* the narrowest of the states that a field is read for */
    bool wanted[MOST_FIELDS];
    bool needed[MOST_FIELDS];          /* with what stands in for those that are absent */
    bool is_asked[MOST_FIELDS];        /* needed, or a mask that says where a needed field counts */
    const char *source[MOST_FIELDS];   /* the dataset that holds the field */
    bool is_there[MOST_FIELDS];        /* that dataset */
    size_t records[MOST_FIELDS];       /* along its leading axis; 0 if it has none */
    double period[MOST_FIELDS];        /* of the records, in seconds */
    size_t record;                     /* that is read now, of a field that has some */
    bool is_bad[MOST_FIELDS];          /* a failure was reported for it */
    const char *said_by[MINIAPP_AXES]; /* the dataset that each length is from, or NULL */
    bool is_disputed[MINIAPP_AXES];    /* by another dataset: this was reported */
    struct window window;              /* the part of the file that is read now */
    int strip, strips;
    char scale[MINIAPP_AXES][AXIS_NAME]; /* the dimension scale of each axis, or "" */
    bool is_at_rest;                     /* its flow is to be stepped, but no dataset has one */
    bool is_too_large;                   /* some dataset is, for the memory: this was reported */
    bool was_refused;                    /* by miniapp_input_check */
    bool is_set[SETTINGS];               /* by the file */
    double setting[SETTINGS];
    uint8_t *water[MOST_FIELDS]; /* of masks and kbot, on (z, y, x) of the window, once read */
    struct miniapp_water seen;   /* in this process's rows, by miniapp_input_check */
    double passing_bytes;        /* that reading a field takes temporarily */
    char grid_text[256];         /* for the provenance */
};

/* ---- input.c ---- */

/* Whether more can be reported of a file after a failure. */
bool goes_on(enum miniapp_status status);

/* Whether w and psi follow from u and v where they are absent. */
static inline bool has_velocities(const struct miniapp_input *input)
{
    return input->is_there[FIELD_u] && input->is_there[FIELD_v];
}

/* Fails if the file was changed since it was opened; one that was removed can still be read. */
enum miniapp_status check_still_same(const struct miniapp_input *input);

/* ---- values.c ---- */

/* A field in the window, checked; what is absent is filled with its stand-in. The caller frees the
 * values, whatever happens. */
enum miniapp_status read_field(struct miniapp_input *input, enum field_id id, double **values);

/* The window's part of a field's dataset, as it is stored. */
enum miniapp_status read_dataset(struct miniapp_input *input, enum field_id id, double *values);

/* Checks that W points lie between T points, and that spacings in z are how far points are apart,
 * within a factor of 2. */
enum miniapp_status check_levels(struct miniapp_input *input);

/* ---- masks.c ---- */

/* Checks that a mask is 0 or 1, with no land above water, or that kbot is a level: kernels address
 * memory by them. */
enum miniapp_status check_mask(const struct miniapp_input *input, enum field_id id,
                               const double *values);

/* Which cells or faces of the window are water by a mask or by kbot, 1 or 0; NULL if the file lacks
 * it, or if it is bad. The input owns the bytes. */
enum miniapp_status find_water(struct miniapp_input *input, enum field_id mask,
                               const uint8_t **water);

/* Checks the wanted fields against each other: cells with cells, faces with the cells beside
 * them. */
enum miniapp_status check_masks(struct miniapp_input *input);

enum miniapp_status look_at_water(struct miniapp_input *input, struct miniapp_water *water);

/* Checks that ghosts repeat the cells at the other side, if the ocean is cyclic and the file has
 * ghosts. */
enum miniapp_status check_ghosts(struct miniapp_input *input, enum field_id id,
                                 const double *values);

/* ---- wall.c ---- */

/* The streamfunction's corners on the southern wall are the transport around that wall, and lie in
 * ghosts. A dataset without ghosts has them as an attribute, a number for each column. */

/* Whether a field lies on them in the steps of a state. */
bool lies_on_corners(const struct miniapp_field *field, const struct miniapp_state *state);

/* Reads the attribute, and puts its values where they are in a state's field of that name: 0 if it
 * is not there. `allow` is that of miniapp_input_options. */
enum miniapp_status read_wall(hid_t dataset, const char *path, struct miniapp_state *state,
                              const struct miniapp_field *field, const char *name, int allow,
                              bool *found);

/* ---- window.c ---- */

void drop_masks(struct miniapp_input *input);

/* Sets the window that is read next, and drops the masks of another window. A window has one more
 * column and row than is wanted, if the file has them: these cells, the margin, decide whether the
 * faces between them and the others are open. The margin's own faces are not known. */
void move_window(struct miniapp_input *input, struct window window);

/* The rows that this process checks, which are all rows if it is the only one; and their window. */
struct cells own_rows(const struct miniapp_input *input);
struct window own_window(const struct miniapp_input *input);

struct window window_for(const struct miniapp_input *input,
                         const struct miniapp_destination *targets, size_t count);

struct window window_of_state(const struct miniapp_state *state);

/* The element of the whole field. */
size_t element_in_file(const struct miniapp_input *input, const struct miniapp_field *field,
                       size_t element);

/* "salt[3, 0, 17]", an element of the window by its index in the file. */
const char *place_in_file(const struct miniapp_input *input, enum field_id id, size_t element,
                          char text[ELEMENT_NAME]);

#endif
