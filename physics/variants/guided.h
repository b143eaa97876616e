/* host: a free thread takes a share of the rows that are left, so shares become smaller */
#define SCHEDULE schedule(guided)
#include "static.h"
