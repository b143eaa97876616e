/* host: a thread takes another row each time that it is free */
#define SCHEDULE schedule(dynamic)
#include "static.h"
