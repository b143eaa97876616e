# The jobs of all schedulers. A job script holds its scheduler's directives, and ends with
#   exec sh run/jobs/body.sh SCHEDULER JOB "$@"
# Options of the job come after the script, where the scheduler passes them on, or from $MINIAPP_OPTIONS.
# shellcheck shell=sh
set -eu
scheduler=$1 job=$2 default=
shift 2

# A job script's --help is the comment at its top, up to the directives.
case "${1:-}" in -h | --help) sed -n '2,/^#[^ ]/s/^# //p' "run/jobs/$scheduler/$job"; exit ;; esac
. run/jobs/site.sh

# $MINIAPP, or the program of a bundle, or that of the first preset named which is built.
need_program() {
  [ ! -x bin/miniapp ] || : "${MINIAPP:=bin/miniapp}"
  for preset in "$@"; do
    [ ! -x "build/$preset/bin/miniapp" ] || : "${MINIAPP:=build/$preset/bin/miniapp}"
  done
  : "${MINIAPP:=build/$1/bin/miniapp}"
  command -v "$MINIAPP" >/dev/null || {
    echo "there is no program $MINIAPP: build it by 'cmake --preset $1 && cmake --build --preset $1'," \
      "or name another one by MINIAPP=PROGRAM" >&2
    exit 2
  }
}

# Sets the number of the job, that of its task in an array, the CPUs of a job that runs one process, and the
# ranks and threads of a job that runs several.
read_grant() {
  case $scheduler in
  slurm)
    number=${SLURM_ARRAY_JOB_ID:-} task=${SLURM_ARRAY_TASK_ID:-} cpus=${SLURM_CPUS_PER_TASK:-1}
    ranks=${SLURM_NTASKS:-} threads=$cpus
    ;;
  pbs)
    number=${PBS_ARRAY_ID:-} number=${number%%[!0-9]*} task=${PBS_ARRAY_INDEX:-} cpus=${NCPUS:-$(nproc)}
    ranks=$([ -z "${PBS_NODEFILE:-}" ] || grep -c . "$PBS_NODEFILE") threads=${OMP_NUM_THREADS:-}
    ;;
  lsf)
    number=${LSB_JOBID:-} task=${LSB_JOBINDEX:-} cpus=${LSB_DJOB_NUMPROC:-}
    ranks=$cpus threads=${OMP_NUM_THREADS:-}
    ;;
  sge) # a slot is a core, so a rank has one thread
    number=${JOB_ID:-} task=${SGE_TASK_ID:-} cpus=${NSLOTS:-}
    ranks=$cpus threads=1
    ;;
  esac
  case $job in mpi-* | scaling) granted=$ranks ;; *) granted=$cpus ;; esac
  [ -n "$granted" ] || {
    echo "run/jobs/$scheduler/$job: has to run as a job: --help says how to submit it" >&2
    exit 2
  }
}

# Prints how mpirun gives each rank cores of its own; nothing if it is of neither MPI.
bind_by_mpirun() {
  case $(mpirun --version 2>/dev/null) in
  *"Open MPI"*) echo "--map-by slot:PE=$threads --bind-to core" ;;
  *HYDRA*) echo "-bind-to core:$threads" ;;
  esac
}

# Slurm binds no rank where its task plugin is none.
bind_by_srun() {
  case $(scontrol show config 2>/dev/null | sed -n 's/^TaskPlugin *= *//p') in
  "" | *none*) ;;
  *) echo "--cpu-bind=cores" ;;
  esac
}

# Prints the command that starts so many ranks. mpirun passes no variables to other nodes, so env sets them.
# Ranks that are not bound would all put their first thread on the first core.
launcher() {
  case $scheduler in
  slurm) bind=$(bind_by_srun) start="srun --ntasks=$1 --cpus-per-task=$threads --distribution=block,Pack" ;;
  pbs) bind=$(bind_by_mpirun) start="mpirun -hostfile $PBS_NODEFILE -n $1" ;;
  lsf) bind=$(bind_by_mpirun) start="mpirun -hostfile $LSB_DJOB_HOSTFILE -n $1" ;;
  sge) bind=$(bind_by_mpirun) start="mpirun -n $1" ;; # it asks Grid Engine for its nodes
  esac
  [ -n "$bind" ] || OMP_PROC_BIND=false
  echo "$start $bind env OMP_NUM_THREADS=$threads OMP_PROC_BIND=$OMP_PROC_BIND OMP_PLACES=$OMP_PLACES"
}

# Some sites of Slurm enforce no memory limit: then the program keeps to it by itself, with a clear error. A
# GPU job has no such limit, since CUDA reserves addresses for all memory.
limit_memory() {
  # shellcheck disable=SC3045 # sh knows ulimit -v on every Linux
  [ "${SLURM_MEM_PER_NODE:-0}" -eq 0 ] || ulimit -v $((SLURM_MEM_PER_NODE * 1024))
}

# In all jobs, exec replaces the shell: the program, or the launcher of its ranks, gets the scheduler's
# signals, and the job gets its exit code.

# All kernels on the stored grid, timed and compared with the stored reference: DEVICE OPTION ...
validate() {
  [ "$1" = gpu ] || limit_memory
  export OMP_NUM_THREADS="$cpus"
  exec "$MINIAPP" --device "$@" \
    --validate "${MINIAPP_REFERENCE:-validation/stored/grid}" "${MINIAPP_INPUT:-inputs/grid.h5}"
}

# Prints the name of the ocean's kernel with this number, counted from 1; nothing if there are fewer.
ocean_kernel() {
  "$MINIAPP" --list-kernels | awk -v wanted="$1" '
    /^[a-z0-9_]+: / { name = $1; sub(":", "", name) }
    /^  defined by/ { getline; if (!/^  (measures the machine|is chosen by name)/ && ++number == wanted) print name }'
}

# One task of an array: a kernel over several sizes, in both precisions.
sweep() {
  limit_memory
  export OMP_NUM_THREADS="$cpus"
  kernel=$(ocean_kernel "$task")
  [ -n "$kernel" ] || exit 0 # the array has room for more kernels than there are
  folder=${RESULTS:-sweep-$number}
  mkdir -p "$folder"
  exec "$MINIAPP" --kernel "$kernel" --precision float64 --precision float32 "$@" \
    --resume "$folder/$kernel.json" "${MINIAPP_INPUT:-inputs/grid.h5}"
}

# Steps in time on an ocean that ranks share: DEVICE OPTION ... The ranks of a node see all GPUs that are
# granted there, and the program takes them in turn.
advance() {
  launch=$(launcher "$ranks")
  # shellcheck disable=SC2086 # a list of words
  exec $launch "$MINIAPP" --device "$@" "${MINIAPP_INPUT:-inputs/acc.h5}"
}

# One task of an array: steps on one of several numbers of ranks.
scaling() {
  exec run/scaling --task "$task" --output "${RESULTS:-scaling-$number}" --launcher "$(launcher "{ranks}")" \
    --program "$MINIAPP" --input "${MINIAPP_INPUT:-inputs/acc.h5}" "$@"
}

case $job in
cpu) need_program host ;;
gpu) need_program nvptx amdgpu ;;
sweep) need_program host && default=--sweep ;;
mpi-cpu) need_program host-mpi && default="--steps 100" ;;
mpi-gpu) need_program nvptx amdgpu && default="--steps 100" ;;
scaling) need_program host-mpi && default="--strong -n 1,2,4,8" ;;
esac
# shellcheck disable=SC2086 # lists of words
[ $# -gt 0 ] || set -- ${MINIAPP_OPTIONS:-$default}
read_grant
case $job in
cpu | gpu) validate "$job" "$@" ;;
sweep) sweep "$@" ;;
mpi-*) advance "${job#mpi-}" "$@" ;;
scaling) scaling "$@" ;;
esac
