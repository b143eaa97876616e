"""Where ReFrame's checks run: a cluster with Slurm, and a laptop. Site: copy this file and change
the cluster; run/reframe/check takes the copy that $RFM_CONFIG_FILES names.

An environment is a preset of CMakePresets.json: its program is build/NAME/bin/miniapp.
"""

SLURM = {
    # squeue works without accounting; site: "slurm" where sacct does
    "scheduler": "squeue",
    "launcher": "local",  # one process, started by the job script itself
    "time_limit": "10m",
    "max_jobs": 10,
}

site_configuration = {
    "systems": [
        {
            "name": "cluster",
            "descr": "a cluster with Slurm",
            "hostnames": [],  # site: patterns of the login nodes' names
            "partitions": [
                {
                    **SLURM,
                    "name": "cpu",
                    "access": ["--partition=cpu", "--mem=8G"],  # site: account, --exclusive
                    "environs": ["host", "host-gcc"],
                    "features": ["cpu"],
                    # site: the cores of a node, and, measured there, each kernel's share of its
                    # ceiling, such as "share": {"eos": 0.6}, under which (less 20 %) checks fail
                    "extras": {"cpus": 8},
                },
                {
                    **SLURM,
                    "name": "gpu",
                    "access": ["--partition=gpu", "--mem=16G"],
                    "environs": ["nvptx"],
                    "features": ["gpu"],
                    "extras": {"cpus": 4},  # site: a GPU's share of a node's cores
                    "resources": [{"name": "gpu", "options": ["--gpus={count}"]}],
                },
            ],
        },
        {
            "name": "laptop",
            "descr": "this machine, without a scheduler",
            "hostnames": [".*"],  # so it comes last
            "partitions": [
                {
                    "name": "cpu",
                    "scheduler": "local",
                    "launcher": "local",
                    "environs": ["host", "host-gcc"],
                    "features": ["cpu"],
                    "max_jobs": 1,  # times of jobs side by side mean nothing
                },
            ],
        },
    ],
    "environments": [
        {"name": "host", "cc": "clang-19"},
        {"name": "host-gcc", "cc": "gcc"},
        {"name": "nvptx", "cc": "clang-19"},
    ],
    "logging": [
        {
            "handlers": [
                {"type": "stream", "name": "stdout", "level": "info", "format": "%(message)s"},
                {"type": "file", "name": "build/reframe/reframe.log", "level": "debug",
                 "append": False},
            ],
            "handlers_perflog": [
                {
                    "type": "filelog",
                    "prefix": "%(check_system)s/%(check_partition)s",
                    "level": "info",
                    "format": "%(check_result)s,%(check_job_completion_time)s,%(check_environ)s,"
                              "%(check_info)s,%(check_perfvalues)s",
                    "format_perfvars": "%(check_perf_value)s,",
                    "append": True,
                },
            ],
        },
    ],
}
