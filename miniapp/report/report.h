/* Printing results: as tables, which people read, in report.c; as JSON and CSV in report_data.c. */
#ifndef REPORT_H
#define REPORT_H

#include "replace.h"
#include "results.h"

#include <stdbool.h>
#include <stdio.h>

enum output_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

/* Prints the results on stdout; MINIAPP_OUTPUT where that fails. */
enum miniapp_status report(const struct results *results, enum output_format format);

bool report_json(const struct results *results, FILE *stream); /* false where it cannot */
void report_csv(const struct results *results);

/* ---- page.c: the layout that people read, of PAGE_WIDTH columns as far as names allow ---- */

enum { PAGE_WIDTH = 100 };

/* The device, the variant, the precision and the number of threads stand in a column of their own
 * only where rows differ in them; else the title names them. */
struct page {
    const struct results *results;
    bool has_devices, has_variants, has_precisions, has_threads;
    int name, device, variant, shape, calls, points; /* widths of columns */
};

struct page page_of(const struct results *results);

/* The head of a table: the names of the columns that page_row fills. */
void page_columns(const struct page *page);

/* The first columns of a line about a row: its kernel, and the others where rows differ in them.
 * Returns how many characters that are. */
int page_row(const struct page *page, const struct result *row);

/* As page_row, then "POINTS points:". */
int page_head(const struct page *page, const struct result *row);

/* Prints items one after the other and breaks the line before one that would pass PAGE_WIDTH.
 * `column` is how much of the line is used; returns how much is used then. */
int page_item(int column, const char *format, ...) __attribute__((format(printf, 2, 3)));

/* "94 x 44 x 20" */
const char *shape_text(const struct miniapp_grid *grid, char text[64]);

/* Seconds with a unit that leaves at most three digits before the point: "1.234 ms", "12.34 s". */
const char *time_in_words(double seconds, char text[16]);

/* The tables of the rows: times, with an explanation of the marks that occur; rates; and shares of
 * the ceilings, where they were measured. */
void print_rows(const struct page *page);
void print_rates(const struct page *page);
void print_roofline(const struct page *page);

/* ---- listing.c: kernels, sequences, fields, settings and devices ---- */

/* Whether kernels of a subject are of no group, 'all' or 'calibration': few files hold what they
 * read. */
bool is_chosen_by_name(const char *subject);

/* Prints each kernel's arguments and cost, and the sequences. */
void list_kernels(const struct miniapp_settings *settings);
void list_variants(void);
void list_devices(void);

/* ---- resume.c: results in a file that outlives the run: a sweep goes on where it stopped ---- */

/* The file of one run, which no other run may use meanwhile. */
struct resume {
    struct place place;
    int file;     /* what is in the place, locked; or -1 */
    bool is_made; /* by this run, and still empty: it is removed when the run ends */
};

#define NO_RESUME ((struct resume){.file = -1})

/* Makes the file where there is none, and locks it. MINIAPP_OUTPUT where it cannot be written, or
 * another run has it. */
enum miniapp_status resume_open(const char *path, struct resume *resume);
void resume_close(struct resume *resume);

/* Adds a file's rows and checksums to empty results, and gives its provenance. MINIAPP_INPUT if it
 * is not such a file. */
enum miniapp_status results_load(const char *path, struct results *results,
                                 struct provenance *provenance);

/* Puts the results that an earlier run left in the file before the new ones; an empty file holds
 * none. MINIAPP_INPUT where it cannot be used: it is no such file, or is of another build, input or
 * settings. */
enum miniapp_status resume_load(const struct resume *resume, struct results *results);

/* Warns where the earlier run was on another machine: its times may stand in the same file, but
 * whoever compares them should know. */
void resume_compare(const struct resume *resume, const struct results *results);

/* Whether the earlier run has a row like it, perhaps together with its ceilings; and checksums of
 * its outputs. */
bool resume_has(const struct results *results, const struct result *wanted, bool with_ceilings);
bool resume_has_checksums(const struct results *results, const struct result *wanted);

/* Writes earlier and new results; at any moment the file is either the old or the new one. */
enum miniapp_status resume_save(struct resume *resume, const struct results *results);

#endif
