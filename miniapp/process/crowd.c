#include "crowd.h"
#include "program.h"
#include "ranks.h"
#include "status.h"

#include <math.h>

void warn_of_crowd(bool computes)
{
    static double load[2][MINIAPP_CORES];
    double threads = 0, most = 0;
    size_t cores = 0;
    if (ranks_on_node() == 1)
        return;
    if (computes)
        miniapp_host_load(load[0], load[1]);
    ranks_reduce(RANKS_SUM_ON_NODE, load[0], 2 * MINIAPP_CORES);
    for (size_t core = 0; core < MINIAPP_CORES; core++) {
        threads += load[0][core];
        most = fmax(most, load[0][core]);
        cores += load[1][core] > 0;
    }
    const double rounding = 1e-6;
    if (ranks_local() > 0 || cores == 0 || most <= ceil((threads - rounding) / cores) + rounding)
        return;
    warn("%.3g threads share a core, though %d processes of this node have %.0f threads on %zu "
         "cores: bind each process to cores of its own (Open MPI: mpirun --map-by slot:PE=%d "
         "--bind-to core; MPICH: mpiexec -bind-to core:%d; Slurm: srun --cpu-bind=cores), or set "
         "OMP_PROC_BIND=false",
         most, ranks_on_node(), threads, cores, miniapp_host_threads(), miniapp_host_threads());
}
