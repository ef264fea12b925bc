// LaunchInfo: the rank of this process in its job, read from the environment variables of the
// launcher:
//   torchrun, or by hand   RANK WORLD_SIZE [LOCAL_RANK LOCAL_WORLD_SIZE] MASTER_ADDR MASTER_PORT
//   Slurm (srun)           SLURM_PROCID SLURM_STEP_NUM_TASKS or SLURM_NTASKS, SLURM_LOCALID, ...
//   MPI                    OMPI_COMM_WORLD_RANK ... (Open MPI), PMI_RANK ... (MPICH, Intel)
// Slurm and MPI tell only part of rank 0's address; MASTER_ADDR and MASTER_PORT complete it. The
// functions are pure for a given environment. An error is one line that names the variable.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "base/error.h"

namespace tritonsmith::distributed {

struct LaunchInfo {
  int rank = 0, size = 1;
  int local_rank = 0, local_size = 1;  // among the processes of this host
  std::string host = "127.0.0.1";      // rank 0's host, where the job's store listens
  std::uint16_t port = 29500;
  // torchrun runs the store itself, for all attempts of the job. Each attempt has a prefix of its
  // own.
  bool launcher_keeps_store = false;
  std::string store_prefix;

  bool is_alone() const { return size == 1; }
  bool spans_hosts() const { return local_size < size; }
};

using Environment = std::function<std::optional<std::string>(const std::string& name)>;
// The environment of this process. An empty variable counts as unset.
Environment process_environment();

// Describes a job with one process if no launcher has set a variable.
Result<LaunchInfo> launch_info_from(const Environment& environment);

// Parses Slurm's short forms. first_host returns the first host of "node[003-010,12],other".
// tasks_on_node returns the tasks of the n-th node in "4(x2),3".
std::string first_host(std::string_view nodes);
std::optional<int> tasks_on_node(std::string_view tasks_per_node, int node);

// Every process of a host takes a GPU of its own: the one whose number among the visible GPUs is
// its local rank. The value for CUDA_VISIBLE_DEVICES; nothing: leave it, the launcher has dealt
// them out (one is visible) or this process is alone on its host.
std::optional<std::string> own_gpu(const LaunchInfo& launch,
                                   const std::optional<std::string>& visible);

}  // namespace tritonsmith::distributed
