#include "page.h"
#include "printable.h"

#include <string.h>

static int wider(int width, const char *text)
{
    return (int)strlen(text) > width ? (int)strlen(text) : width;
}

struct page page_of(const struct results *results)
{
    struct page page = {.results = results, .name = 10, .device = 6, .variant = 7, .shape = 12};
    page.has_variants = results_vary_variants(results);
    page.has_threads = results_vary_threads(results);
    for (size_t i = 0; i < results->result_count; i++) {
        const struct result *const r = &results->results[i], *const first = results->results;
        char shape[64];
        page.has_devices = page.has_devices || strcmp(r->device, first->device) != 0;
        page.has_precisions = page.has_precisions || r->precision != first->precision;
        page.name = wider(page.name, r->kernel);
        page.device = wider(page.device, r->device);
        page.variant = wider(page.variant, r->variant);
        page.shape = wider(page.shape, shape_text(&r->grid, shape));
    }
    return page;
}

void page_columns(const struct page *page)
{
    print("%-*s", page->name, "kernel");
    if (page->has_devices)
        print(" %-*s", page->device, "device");
    if (page->has_variants)
        print(" %-*s", page->variant, "variant");
    if (page->has_precisions)
        print(" %-9s", "precision");
    if (page->has_threads)
        print(" %7s", "threads");
}

int page_row(const struct page *page, const struct result *row)
{
    print("%-*s", page->name, row->kernel);
    if (page->has_devices)
        print(" %-*s", page->device, row->device);
    if (page->has_variants)
        print(" %-*s", page->variant, row->variant);
    if (page->has_precisions)
        print(" %-9s", miniapp_precision_name(row->precision));
    if (page->has_threads && row->threads)
        print(" %7d", row->threads);
    else if (page->has_threads)
        print(" %7s", "");
    return page->name + page->has_devices * (1 + page->device) +
           page->has_variants * (1 + page->variant) + page->has_precisions * 10 +
           page->has_threads * 8;
}

int page_head(const struct page *page, const struct result *row)
{
    const int column = page_row(page, row);
    print(" %9zu points:", miniapp_grid_points(&row->grid));
    return column + 18;
}

int page_item(int column, int indent, const char *item)
{
    const int length = (int)strlen(item);
    if (column + length > PAGE_WIDTH && column > indent) {
        print("\n");
        print("%*s", indent, "");
        column = indent;
        item += *item == ' ';
    }
    print("%s", item);
    return column + length;
}

const char *shape_text(const struct miniapp_grid *grid, char text[64])
{
    snprintf(text, 64, "%zu x %zu x %zu", grid->nx, grid->ny, grid->nz);
    return text;
}

const char *time_in_column(double seconds, char text[16])
{
    static const char *const units[] = {"s ", "ms", "us", "ns"};
    int unit = 0;
    while (unit < 3 && seconds < 1) {
        seconds *= 1000;
        unit++;
    }
    snprintf(text, 16, "%.*f %s", seconds >= 100 ? 1 : seconds >= 10 ? 2 : 3, seconds, units[unit]);
    return text;
}

const char *time_in_words(double seconds, char text[16])
{
    time_in_column(seconds, text);
    char *const last = text + strlen(text) - 1;
    if (*last == ' ')
        *last = '\0';
    return text;
}
