/* Printing results: as tables, which people read, in report.c; as JSON and CSV in report_data.c. */
#ifndef REPORT_H
#define REPORT_H

#include <stdbool.h>

#include "program.h"
#include "results.h"

enum output_format { FORMAT_TABLE, FORMAT_JSON, FORMAT_CSV };

/* Prints the results on stdout; MINIAPP_OUTPUT where that fails. */
enum miniapp_status report(const struct results *results, enum output_format format);

void report_json(const struct results *results);
void report_csv(const struct results *results);

/* The object of --format json, which the caller releases. */
json_t *results_object(const struct results *results);

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

/* ---- listing.c: what the library has ---- */

/* Whether kernels of a subject are of no group, 'all' or 'calibration': few files hold what they
 * read. */
bool is_chosen_by_name(const char *subject);

/* Prints each kernel's arguments and cost, and the sequences. */
void list_kernels(const struct miniapp_settings *settings);

/* Prints the purpose and the directives of each variant. */
void list_variants(void);

/* Prints the devices that this build can use on this machine. */
void list_devices(void);

#endif
