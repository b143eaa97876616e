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

struct miniapp_input_options {
    int allow;
    struct time_choice time;
    char *variable[MOST_FIELDS]; /* the dataset that is to hold the field, or NULL */
    int strip, strips;           /* which strip of rows this process checks, of how many; or 0 */
};

enum { SENTENCE = 256 };

struct miniapp_input {
    char *path;
    hid_t file;
    struct outside outside; /* the files that it names */
    int allow;
    enum miniapp_precision precision; /* the narrowest of the states that a field is read for */
    struct time_choice time;
    bool wanted[MOST_FIELDS];
    bool needed[MOST_FIELDS]; /* with what stands in for those that are absent */
    char *name[MOST_FIELDS];  /* of the dataset that holds the field, or NULL */
    bool is_renamed[MOST_FIELDS];
    struct scales scales;
    struct axes axes;
    struct miniapp_grid whole; /* as in the file, with or without ghosts */
    struct miniapp_grid grid;  /* of the window: the part of the file that is read now */
    size_t x0, y0;             /* the window's first cell in the file */
    int strip, strips;
    const char *scale[MINIAPP_AXES]; /* the dimension scale of each axis, or NULL */
    bool has_ghosts, is_cyclic;
    bool is_surface_first; /* the file: what is read is turned round */
    hsize_t records; /* of the longest time axis of a dataset that was opened; 0: none has one */
    hsize_t record;  /* that was chosen */
    bool is_read[MOST_FIELDS];
    bool is_bad[MOST_FIELDS]; /* something was said of it, or of what it takes to read it */
    bool is_too_large;        /* some dataset for the memory */
    bool is_upside_down;      /* the masks are, by the order of levels that was found */
    char odd_ghosts[1024], odd_ghost[3 * SENTENCE]; /* the fields, and the first of them */
    bool was_refused;                               /* by miniapp_input_check */
    bool is_checking;      /* all is looked at, whatever is bad: no more is said of that */
    bool is_set[SETTINGS]; /* by the file */
    double setting[SETTINGS];
    uint8_t *water[MOST_FIELDS]; /* of masks and kbot, in three dimensions, once it is known */
    char water_source[SENTENCE]; /* what the water cells of absent masks are taken from */
    bool is_land_known;          /* whether a field tells by what it lacks, and which: */
    enum field_id telling;
    int32_t *deepest[MOST_FIELDS]; /* likewise: 1 + the lowest wet level, once it is known */
    struct conversion conversion[MOST_FIELDS]; /* of what was opened */
    struct treatment treatment[MOST_FIELDS];
    bool is_made[MOST_FIELDS];                /* a mask or kbot */
    bool has_land[MOST_FIELDS];               /* values on land were replaced */
    double passing_bytes;                     /* that reading a dataset takes */
    char reason[SENTENCE];                    /* why the file has ghosts, or none */
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

/* Whether more can be said of a file of which something is wrong. */
bool goes_on(enum miniapp_status status);

/* A field on the file's grid, from the bottom up, as the file has it: what is missing is NaN. The
 * caller frees the values. */
enum miniapp_status read_raw(struct miniapp_input *input, enum field_id id, double **values);

/* The same, checked; what is absent or missing is made. */
enum miniapp_status read_field(struct miniapp_input *input, enum field_id id, double **values);

/* "salt[3, 0, 17]", an element by its index in the file along (z, y, x); valid until the next
 * call. */
const char *place_in_file(const struct miniapp_input *input, enum field_id id, size_t element);

/* ---- window.c ---- */

/* Frees the masks that were kept, which are the window's. */
void drop_masks(struct miniapp_input *input);

/* What is read next. Masks are dropped where they were those of another window. A window has one
 * column and one row more than is wanted, where the file does: that margin is read for the faces
 * beside it, which it closes or opens. Faces in the margin are not known, and nothing that it takes
 * a mask to see is said of it. */
void move_window(struct miniapp_input *input, const struct window *window);
struct window window_of(const struct miniapp_input *input);

/* The rows that this process checks, all where it is the only one; and their window. */
struct cells own_rows(const struct miniapp_input *input);
struct window own_window(const struct miniapp_input *input);

/* What these targets take. */
struct window window_for(const struct miniapp_input *input,
                         const struct miniapp_destination *targets, size_t count);

/* The file's values as targets take them. */
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

/* Once the grid is known. */
void describe_grid(struct miniapp_input *input);

/* ---- names.c ---- */

/* Finds the datasets of all fields: by --variable, their own names or CF's standard names. */
enum miniapp_status find_names(struct miniapp_input *input,
                               const struct miniapp_input_options *options);

/* Whether a dataset is what its field means, by its standard name and units, and how these are to
 * be converted. */
enum miniapp_status check_meaning(struct miniapp_input *input, enum field_id id, hid_t dataset);

/* Whether a mask or kbot that is needed is not there. */
bool lacks_made(const struct miniapp_input *input);

/* All that are needed but missing, in one line. What masks can be made of is known only where the
 * datasets that are there can be read. */
enum miniapp_status check_missing(struct miniapp_input *input, bool are_readable);

/* ---- land.c ---- */

/* Which field tells by missing values what is water in the whole file, where no mask does. Several
 * processes agree about it while they read the header, and never again: when the rest is read
 * depends on data. */
enum miniapp_status find_telling(struct miniapp_input *input);

/* Which T cells are water, 1 or 0: by a mask, by kbot, else by the missing values of a field. They
 * are the input's. NULL where nothing tells. */
enum miniapp_status find_water_cells(struct miniapp_input *input, const uint8_t **water);

/* The values of a mask or of kbot which are absent, from the water cells. */
enum miniapp_status make_mask(struct miniapp_input *input, enum field_id id, double *values);

/* Whether the cell beyond an element is water: to the east for U, to the north for V, above for W.
 * Beyond the last column lies the first where the ocean is cyclic, else land, as beyond a window;
 * above the surface, nothing that closes the face. */
bool is_water_beyond(const struct miniapp_input *input, enum field_id mask, const uint8_t *water,
                     size_t element);

/* Where a field means something; NULL where nothing tells: everywhere. */
enum miniapp_status find_meaning(struct miniapp_input *input, enum field_id id,
                                 const uint8_t **water);

/* Whether an element of a field lies on that water; in the plane, where the surface does. */
bool is_water(const struct miniapp_input *input, const struct miniapp_field *field,
              const uint8_t *water, size_t element);

/* Replaces what is missing or out of range on land; MINIAPP_INPUT where it is on water. */
enum miniapp_status settle_land(struct miniapp_input *input, enum field_id id, double *values,
                                size_t elements);

/* ---- checks.c ---- */

/* Finds out whether the surface comes first; MINIAPP_INPUT where levels or rows cannot be right. */
enum miniapp_status find_direction(struct miniapp_input *input);

/* Whether a field that was read agrees with what was read before: lines of the grid with each
 * other, a mask with itself, kbot with the masks. */
enum miniapp_status check_agreement(struct miniapp_input *input, enum field_id id,
                                    const double *values);

/* Whether no land lies on water; `land` says what a cell of land is: "is land", "is missing". */
enum miniapp_status check_columns(struct miniapp_input *input, enum field_id id, const double *mask,
                                  const char *land);

/* Looks at each field that is needed, whatever is wrong with others; says one line of each that
 * cannot be meant. */
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
