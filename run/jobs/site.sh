# Settings of a site for all its jobs. A job reads this in the folder that it was submitted in, the
# repository or an unpacked bundle.
# shellcheck shell=sh

# `module` is a function of login shells, which the shell of a job is not. The files that define it
# are not ours: they may read variables that are not set, and run commands that fail.
define_module() {
  for file in "${MODULESHOME:-}/init/sh" /etc/profile.d/*modules.sh /etc/profile.d/*lmod.sh; do
    # shellcheck disable=SC1090 # a file of the site
    [ ! -r "$file" ] || command -v module >/dev/null || . "$file"
  done
}
set +eu
define_module
# site: the modules that the program needs; a build that holds bitcode needs ptxas when it runs,
# such as by: module load cuda
set -eu

# A thread that stays on its core keeps its cache, and stays near the memory that it touched first;
# spread over the sockets, fewer threads than cores still use all channels to memory. Values that the
# user has set stay.
export OMP_PROC_BIND="${OMP_PROC_BIND:-spread}" OMP_PLACES="${OMP_PLACES:-cores}"

# site: how srun starts ranks: pmix for Open MPI, pmi2 for MPICH; srun --mpi=list. Left to itself, Slurm 22.05
# gathers what MPI_Init exchanges in two ways, one of which may overtake the other: on busy nodes one start of
# Open MPI in 200 crashed. And if one rank dies, the others end, too, instead of waiting for it until the time
# limit.
export SLURM_MPI_TYPE="${SLURM_MPI_TYPE:-pmix}" SLURM_PMIX_FENCE="${SLURM_PMIX_FENCE:-tree}"
export SLURM_KILL_BAD_EXIT="${SLURM_KILL_BAD_EXIT:-1}"
