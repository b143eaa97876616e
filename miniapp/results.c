#include "results.h"
#include "status.h"

#include <stdlib.h>

static void *grow(void *array, size_t count, size_t bytes)
{
    void *grown = realloc(array, (count + 1) * bytes);
    if (!grown)
        fail(PHYSICS_DEVICE, "out of memory for results");
    return grown;
}

struct result *results_add(struct results *results)
{
    struct result *grown = grow(results->results, results->result_count, sizeof(*grown));
    if (!grown)
        return NULL;
    results->results = grown;
    grown[results->result_count] = (struct result){0};
    return &grown[results->result_count++];
}

struct check *results_add_check(struct results *results)
{
    struct check *grown = grow(results->checks, results->check_count, sizeof(*grown));
    if (!grown)
        return NULL;
    results->checks = grown;
    grown[results->check_count] = (struct check){0};
    return &grown[results->check_count++];
}

void results_release(struct results *results)
{
    free(results->results);
    free(results->checks);
}

bool results_passed(const struct results *results)
{
    for (size_t i = 0; i < results->check_count; i++)
        if (!results->checks[i].verdict.passed)
            return false;
    return true;
}
