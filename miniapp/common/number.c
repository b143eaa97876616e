#include "number.h"

#include <math.h>
#include <stdio.h>

double number_in(const char *path, const char *format)
{
    char line[256];
    double value = NAN, found;
    FILE *file = fopen(path, "r");
    while (file && isnan(value) && fgets(line, sizeof(line), file))
        if (sscanf(line, format, &found) == 1)
            value = found;
    if (file)
        fclose(file);
    return value;
}
