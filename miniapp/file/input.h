/* An input that is open, for the files that make up the reader. */
#ifndef INPUT_H
#define INPUT_H

#include "axes.h"
#include "outside.h"
#include "program.h"
#include "table.h"
#include "units.h"
#include "values.h"
#include "window.h"

#include <hdf5.h>
#include <stdint.h>
#include <sys/stat.h>

struct miniapp_input_options {
    int allow;
    struct time_choice time;
    char *variable[MOST_FIELDS]; /* the dataset that the user names for the field, or NULL */
    int strip, strips;           /* which strip of rows this process checks, of how many; or 0 */
};

enum { SENTENCE = 256 };

/* The record of a dataset that is read. */
struct record {
    const char *scale; /* of the time axis, or NULL */
    hsize_t index, count;
};

struct miniapp_input {
    char *path;
    hid_t file;
    struct stat found;      /* when it was opened */
    struct outside outside; /* the files that it names */
    int allow;
    enum miniapp_precision precision; /* the narrowest of the states that a field is read for */
    struct time_choice time;
    bool wanted[MOST_FIELDS];
    bool needed[MOST_FIELDS]; /* with what stands in for those that are absent */
    char *name[MOST_FIELDS];  /* of the dataset that holds the field, or NULL */
    bool is_renamed[MOST_FIELDS];
    bool is_told[MOST_FIELDS]; /* that the dataset holds another quantity */
    struct scales scales;
    struct axes axes;
    struct miniapp_grid whole; /* as in the file, with or without ghosts */
    struct miniapp_grid grid;  /* of the window: the part of the file that is read now */
    size_t x0, y0;             /* the window's first cell in the file */
    int strip, strips;
    const char *scale[MINIAPP_AXES]; /* the dimension scale of each axis, or NULL */
    const char *own_scale[MOST_FIELDS][MINIAPP_AXES]; /* those of each field's dataset */
    int dimension[MOST_FIELDS][MINIAPP_AXES]; /* of each field's dataset, from 1; 0: not known */
    struct record record_of[MOST_FIELDS];     /* that was opened */
    bool has_ghosts, is_cyclic;
    bool is_surface_first; /* in the file: the levels that are read are reversed */
    hsize_t records; /* of the longest time axis of a dataset that was opened; 0: none has one */
    hsize_t record;  /* that was chosen */
    bool is_read[MOST_FIELDS];
    bool is_bad[MOST_FIELDS]; /* a failure was reported for it, or for what reading it needs */
    bool is_too_large;        /* some dataset is, for the memory */
    bool is_upside_down;      /* the masks are, in the order of levels that was found */
    char odd_ghosts[1024], odd_ghost[3 * SENTENCE]; /* the fields, and the first of them */
    bool was_refused;                               /* by miniapp_input_check */
    bool is_checking;      /* all fields are being checked: what is bad is not reported again */
    bool is_set[SETTINGS]; /* by the file */
    double setting[SETTINGS];
    uint8_t *water[MOST_FIELDS]; /* of masks and kbot, in three dimensions, once it is known */
    char water_source[SENTENCE]; /* what the water cells of absent masks are taken from */
    bool is_land_known;          /* whether missing values tell land, and of which field: */
    enum field_id telling;
    int32_t *deepest[MOST_FIELDS]; /* likewise: 1 + the lowest wet level, once it is known */
    struct conversion conversion[MOST_FIELDS]; /* of what was opened */
    struct treatment treatment[MOST_FIELDS];
    bool is_made[MOST_FIELDS];                /* a mask or kbot */
    bool has_land[MOST_FIELDS];               /* values on land were replaced */
    double passing_bytes;                     /* that reading a dataset takes temporarily */
    char reason[SENTENCE];                    /* why the file has ghosts, or has none */
    char grid_text[2 * SENTENCE], text[4096]; /* for the provenance */
};

/* Whether the file has a dataset for a field. */
static inline bool is_there(const struct miniapp_input *input, enum field_id id)
{
    return input->name[id] != NULL;
}

/* What the file calls a field, or its own name. */
static inline const char *name_in_file(const struct miniapp_input *input, enum field_id id)
{
    return input->name[id] ? input->name[id] : fields[id].name;
}

/* ---- input.c ---- */

/* Whether more can be reported of a file after a failure. */
bool goes_on(enum miniapp_status status);

/* Everything that is wrong is reported, and the first failure counts. */
enum miniapp_status first_of(enum miniapp_status before, enum miniapp_status now);

/* A field on the file's grid, from the bottom up, as the file has it: what is missing is NaN. The
 * caller frees the values. */
enum miniapp_status read_raw(struct miniapp_input *input, enum field_id id, double **values);

/* The same, checked; what is absent or missing is made. */
enum miniapp_status read_field(struct miniapp_input *input, enum field_id id, double **values);

/* "salt[3, 0, 17]", an element by its index in the file along (z, y, x); valid until the next
 * call. */
const char *place_in_file(const struct miniapp_input *input, enum field_id id, size_t element);

/* ---- window.c ---- */

/* Frees the masks that were kept for the window. */
void drop_masks(struct miniapp_input *input);

/* Sets the window that is read next, and drops the masks of another window. A window has one more
 * column and row than is wanted, if the file has them: these cells, the margin, decide whether the
 * faces between them and the others are open. The margin's own faces are not known, and nothing is
 * reported of it that only a mask can show. */
void move_window(struct miniapp_input *input, const struct window *window);
struct window window_of(const struct miniapp_input *input);

/* The rows that this process checks, which are all rows if it is the only one; and their window. */
struct cells own_rows(const struct miniapp_input *input);
struct window own_window(const struct miniapp_input *input);

/* The window that these targets need. */
struct window window_for(const struct miniapp_input *input,
                         const struct miniapp_destination *targets, size_t count);

/* The grids of the file's window and of a state, between which values are regridded. */
struct file_grid file_grid_of(const struct miniapp_input *input);
struct window window_of_state(const struct miniapp_state *state);

/* Where a cell of the window lies in the file, by its element in a field on (y, x) or (z, y, x). */
size_t column_in_file(const struct miniapp_input *input, size_t element);
size_t row_in_file(const struct miniapp_input *input, size_t element);

/* Whether an element lies in the margin of the window. */
bool is_in_margin(const struct miniapp_input *input, const struct miniapp_field *field,
                  size_t element);

/* The element of the whole field. */
size_t element_in_file(const struct miniapp_input *input, const struct miniapp_field *field,
                       size_t element);

/* ---- input_text.c ---- */

/* Puts the grid into words, once it is known. */
void describe_grid(struct miniapp_input *input);

/* ---- names.c ---- */

/* Finds the datasets of all fields: by --variable, their own names or CF's standard names. */
enum miniapp_status find_names(struct miniapp_input *input,
                               const struct miniapp_input_options *options);

/* Checks by its standard name and units that a dataset holds what its field means, and finds how
 * the units are to be converted. */
enum miniapp_status check_meaning(struct miniapp_input *input, enum field_id id, hid_t dataset);

/* Whether a mask or kbot that is needed is not there. */
bool lacks_made(const struct miniapp_input *input);

/* Reports in one line all datasets that are needed but missing. What masks can be made of is known
 * only if the datasets that exist can be read. */
enum miniapp_status check_missing(struct miniapp_input *input, bool are_readable);

/* ---- land.c ---- */

/* What tells which cells are water, in this order. */
enum { CELL_MASKS = 3 };
extern const enum field_id cell_masks[CELL_MASKS];

/* Finds the field whose missing values tell land from water in the whole file, if no mask does.
 * Several processes agree on it while they read the header, and never later, because when each of
 * them reads the rest depends on data. */
enum miniapp_status find_telling(struct miniapp_input *input);

/* Which T cells are water, 1 or 0: by a mask, by kbot, else by the missing values of a field. They
 * belong to the input. NULL if nothing tells. */
enum miniapp_status find_water_cells(struct miniapp_input *input, const uint8_t **water);

/* Warns where the whole file has no water, by the masks that matter. Several processes agree on it,
 * each after it has checked its fields. */
enum miniapp_status check_water(struct miniapp_input *input);

/* Makes the values of a mask or of kbot, if it is absent, from the water cells. */
enum miniapp_status make_mask(struct miniapp_input *input, enum field_id id, double *values);

/* Whether the cell beyond an element is water: to the east for U, to the north for V, above for W.
 * Beyond the last column lies the first one if the ocean is cyclic, or else land; beyond a window
 * lies land, too. Nothing closes the face above the surface: it counts as water. */
bool is_water_beyond(const struct miniapp_input *input, enum field_id mask, const uint8_t *water,
                     size_t element);

/* The cells where a field means something; NULL, if nothing tells, stands for all. */
enum miniapp_status find_meaning(struct miniapp_input *input, enum field_id id,
                                 const uint8_t **water);

/* Whether an element of a field lies on that water. An element of a field without levels does if
 * its surface cell does. */
bool is_water(const struct miniapp_input *input, const struct miniapp_field *field,
              const uint8_t *water, size_t element);

/* Replaces values that are missing or out of range on land; MINIAPP_INPUT if there are any on
 * water. */
enum miniapp_status settle_land(struct miniapp_input *input, enum field_id id, double *values,
                                size_t elements);

/* ---- check_axes.c ---- */

/* Finds out whether the surface comes first; MINIAPP_INPUT where levels cannot be right. */
enum miniapp_status find_direction(struct miniapp_input *input);

/* Checks the coordinates of columns and rows, and that those of all datasets agree. It has to be
 * known whether there are ghosts. */
enum miniapp_status check_axes(struct miniapp_input *input);

/* ---- check_times.c ---- */

/* Checks that the records that were chosen are of one time. A warning says where a single record,
 * or one of a climatology, is of another. */
enum miniapp_status check_times(struct miniapp_input *input);

/* ---- checks.c ---- */

/* Whether a field that was read agrees with what was read before: lines of the grid with each
 * other, a mask with itself, kbot with the masks. */
enum miniapp_status check_agreement(struct miniapp_input *input, enum field_id id,
                                    const double *values);

/* Checks that no land lies above water; `land` is what a message says of a cell of land: "is land",
 * "is missing". */
enum miniapp_status check_columns(struct miniapp_input *input, enum field_id id, const double *mask,
                                  const char *land);

/* Checks each field that is needed, whatever is wrong with others; reports one line for each that
 * is implausible. */
enum miniapp_status check_fields(struct miniapp_input *input);

/* ---- check_grid.c ---- */

enum miniapp_status check_spacings(struct miniapp_input *input, enum field_id id,
                                   const double *values);
enum miniapp_status check_pressure(struct miniapp_input *input, const double *p);
enum miniapp_status check_upper_faces(struct miniapp_input *input, const double *zw);
enum miniapp_status check_distances(struct miniapp_input *input, enum field_id id,
                                    enum field_id widths, const double *distance);
enum miniapp_status check_cosines(struct miniapp_input *input, const double *cosu);

/* ---- check_walls.c ---- */

enum miniapp_status check_faces(struct miniapp_input *input, enum field_id mask,
                                const double *values);
enum miniapp_status check_flow(struct miniapp_input *input, enum field_id id, const double *values);
enum miniapp_status check_copies(struct miniapp_input *input, enum field_id id,
                                 const double *values);

/* What check_copies found, in one line. */
enum miniapp_status say_ghosts(const struct miniapp_input *input);

/* ---- ghosts.c ---- */

/* Whether a cell is one of the outer two, and the column that a ghost repeats where the ocean is
 * cyclic. */
bool is_outer(size_t cell, size_t cells);
size_t opposite_column(size_t x, size_t nx);

/* Decides whether the outer two rings are ghosts where the file does not say so. */
enum miniapp_status find_ghosts(struct miniapp_input *input);

#endif
