/* Whether what a run found is right. */
#ifndef JUDGE_H
#define JUDGE_H

#include "run.h"

/* MINIAPP_MISMATCH where outputs are not finite or beyond their limits, where a budget is not kept,
 * or where a reference differs. */
enum miniapp_status judge(const struct run *run);

#endif
