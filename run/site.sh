# What the job scripts of all schedulers share: a site names its modules here, once. A job reads it
# in the folder that it was submitted in, the repository or an unpacked bundle.
# shellcheck shell=sh

# A job script's --help is what stands at its top, up to the scheduler's lines.
case "${1:-}" in -h | --help) sed -n '2,/^#[^ ]/s/^# //p' "$0"; exit ;; esac

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
# spread over the sockets, fewer threads than cores still use all channels to memory. What the user
# has set stays.
export OMP_PROC_BIND="${OMP_PROC_BIND:-spread}" OMP_PLACES="${OMP_PLACES:-cores}"

# The program is $MINIAPP, that of a bundle, or in the repository that of the preset which the job
# needs.
need_program() {
  [ ! -x bin/miniapp ] || : "${MINIAPP:=bin/miniapp}"
  : "${MINIAPP:=build/$1/bin/miniapp}"
  command -v "$MINIAPP" >/dev/null || {
    echo "there is no program $MINIAPP: build it by 'cmake --preset $1 && cmake --build --preset $1'," \
      "or name another one by MINIAPP=PROGRAM" >&2
    exit 2
  }
}

# Prints the name of the ocean's kernel with this number, counted from 1; nothing if there are
# fewer.
ocean_kernel() {
  "$MINIAPP" --list-kernels | awk -v wanted="$1" '
    /^[a-z0-9_]+: / { name = $1; sub(":", "", name) }
    /^  defined by/ { getline; if (!/^  measures the machine/ && ++number == wanted) print name }'
}

# How srun starts ranks. Left to itself, Slurm 22.05 gathers what MPI_Init exchanges in two ways,
# one of which may overtake the other: on busy nodes one start of Open MPI in 200 crashed. And if
# one rank dies, the others end, too, instead of waiting for it until the time limit.
ranks_by_srun() {
  export SLURM_MPI_TYPE="${SLURM_MPI_TYPE:-pmix}" # site: pmi2 for MPICH; srun --mpi=list
  export SLURM_PMIX_FENCE="${SLURM_PMIX_FENCE:-tree}"
  export SLURM_KILL_BAD_EXIT="${SLURM_KILL_BAD_EXIT:-1}"
}
