#include "distributed/launch_info.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <vector>

namespace tritonsmith::distributed {
namespace {

std::optional<int> number_in(std::string_view text) {
  int value = 0;
  const auto [end, code] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (code != std::errc() || end != text.data() + text.size() || value < 0) return std::nullopt;
  return value;
}

// Reads variables. Of several names it takes the first that is set.
class Reader {
 public:
  explicit Reader(const Environment& environment) : environment_(environment) {}

  std::optional<std::string> text(std::initializer_list<const char*> names) const {
    for (const char* name : names)
      if (auto value = environment_(name)) return value;
    return std::nullopt;
  }

  Result<std::optional<int>> number(const std::vector<const char*>& names) const {
    for (const char* name : names) {
      const auto value = environment_(name);
      if (!value) continue;
      const auto number = number_in(*value);
      if (!number) return fail("{} is '{}': a number from 0 on is needed", name, *value);
      return number;
    }
    return std::optional<int>();
  }

 private:
  const Environment& environment_;
};

bool is_loopback(const std::string& host) {
  return host == "localhost" || host == "::1" || host.starts_with("127.");
}

// Reads MASTER_ADDR and MASTER_PORT if they are set.
Status read_address(const Reader& reader, LaunchInfo& launch) {
  if (const auto host = reader.text({"MASTER_ADDR"})) launch.host = *host;
  TRY_ASSIGN(const auto port, reader.number({"MASTER_PORT"}));
  if (port && (*port == 0 || *port > 65535))
    return fail("MASTER_PORT is {}: a port from 1 to 65535 is needed", *port);
  if (port) launch.port = static_cast<std::uint16_t>(*port);
  return ok();
}

Result<LaunchInfo> from_torchrun(const Reader& reader, LaunchInfo launch) {
  if (launch.size > 1 && !reader.text({"MASTER_ADDR"}))
    return fail(
        "WORLD_SIZE is {}, but MASTER_ADDR is not set: name the host of rank 0 (127.0.0.1 where "
        "all are on this one)",
        launch.size);
  TRY(read_address(reader, launch));
  // Launchers with one process for each host, such as Kubernetes operators, set no local rank.
  const bool are_all_here = is_loopback(launch.host);
  TRY_ASSIGN(const auto local_rank, reader.number({"LOCAL_RANK"}));
  TRY_ASSIGN(const auto local_size, reader.number({"LOCAL_WORLD_SIZE"}));
  launch.local_rank = local_rank.value_or(are_all_here ? launch.rank : 0);
  launch.local_size =
      local_size.value_or(are_all_here ? launch.size : std::max(1, launch.local_rank + 1));
  if (reader.text({"TORCHELASTIC_USE_AGENT_STORE"}) == "True") {
    launch.launcher_keeps_store = true;
    // The same prefix as torch.distributed's for the workers of an attempt.
    launch.store_prefix = fmt::format("/worker/attempt_{}",
                                      reader.text({"TORCHELASTIC_RESTART_COUNT"}).value_or("0"));
  }
  return launch;
}

Result<LaunchInfo> from_slurm(const Reader& reader, LaunchInfo launch) {
  TRY_ASSIGN(const auto local_rank, reader.number({"SLURM_LOCALID"}));
  TRY_ASSIGN(const auto node, reader.number({"SLURM_NODEID"}));
  TRY_ASSIGN(const auto nodes, reader.number({"SLURM_STEP_NUM_NODES", "SLURM_NNODES"}));
  const bool are_all_here = nodes == 1;
  launch.local_rank = local_rank.value_or(are_all_here ? launch.rank : 0);
  const auto tasks = reader.text({"SLURM_STEP_TASKS_PER_NODE", "SLURM_TASKS_PER_NODE"});
  const auto here = tasks ? tasks_on_node(*tasks, node.value_or(0)) : std::nullopt;
  launch.local_size = are_all_here ? launch.size : here.value_or(launch.local_rank + 1);
  if (!are_all_here)
    if (const auto list = reader.text({"SLURM_STEP_NODELIST", "SLURM_JOB_NODELIST"}))
      launch.host = first_host(*list);
  // Jobs on one host need different ports.
  TRY_ASSIGN(const auto job, reader.number({"SLURM_JOB_ID"}));
  if (job) launch.port = static_cast<std::uint16_t>(15000 + *job % 20000);
  TRY(read_address(reader, launch));
  return launch;
}

Result<LaunchInfo> from_mpi(const Reader& reader, LaunchInfo launch) {
  TRY_ASSIGN(const auto local_rank,
             reader.number({"OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID"}));
  TRY_ASSIGN(const auto local_size,
             reader.number({"OMPI_COMM_WORLD_LOCAL_SIZE", "MPI_LOCALNRANKS"}));
  launch.local_rank = local_rank.value_or(launch.rank);
  launch.local_size = local_size.value_or(launch.size);
  if (launch.spans_hosts() && !reader.text({"MASTER_ADDR"}))
    return fail(
        "MPI started {} processes on several hosts, but MASTER_ADDR is not set: name the host of "
        "rank 0 (mpirun -x MASTER_ADDR=HOST)",
        launch.size);
  TRY(read_address(reader, launch));
  return launch;
}

// A batch script of Slurm sees a rank although only srun starts the tasks of a step.
bool is_step_of_slurm(const Reader& reader) {
  return reader.text({"SLURM_STEP_ID", "SLURM_STEP_NODELIST", "MASTER_ADDR"}).has_value();
}

}  // namespace

Environment process_environment() {
  return [](const std::string& name) -> std::optional<std::string> {
    const char* value = std::getenv(name.c_str());
    if (value == nullptr || *value == '\0') return std::nullopt;
    return std::string(value);
  };
}

Result<LaunchInfo> launch_info_from(const Environment& environment) {
  struct Launcher {
    const char* rank;
    std::vector<const char*> size;
    Result<LaunchInfo> (*read)(const Reader&, LaunchInfo);
  };
  static constexpr auto kSlurmRank = "SLURM_PROCID";
  const std::vector<Launcher> launchers = {
      {"RANK", {"WORLD_SIZE"}, from_torchrun},
      {"OMPI_COMM_WORLD_RANK", {"OMPI_COMM_WORLD_SIZE"}, from_mpi},
      {"PMI_RANK", {"PMI_SIZE"}, from_mpi},
      {kSlurmRank, {"SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", "SLURM_NPROCS"}, from_slurm}};
  const Reader reader(environment);
  for (const Launcher& launcher : launchers) {
    TRY_ASSIGN(const auto rank, reader.number({launcher.rank}));
    TRY_ASSIGN(const auto size, reader.number(launcher.size));
    if (!rank || !size || *size <= 1) continue;
    if (launcher.rank == kSlurmRank && !is_step_of_slurm(reader)) continue;
    if (*rank >= *size)
      return fail("{} is {}, but there are {} ranks, counted from 0", launcher.rank, *rank, *size);
    return launcher.read(reader, LaunchInfo{.rank = *rank, .size = *size});
  }
  return LaunchInfo{};
}

std::string first_host(std::string_view nodes) {
  std::string host;
  for (std::size_t i = 0; i < nodes.size() && nodes[i] != ','; ++i) {
    if (nodes[i] != '[') {
      host += nodes[i];
      continue;
    }
    const std::size_t close = std::min(nodes.find(']', i), nodes.size());
    const std::string_view range = nodes.substr(i + 1, close - i - 1);
    host += range.substr(0, range.find_first_of("-,"));
    i = close;
  }
  return host;
}

std::optional<int> tasks_on_node(std::string_view tasks_per_node, int node) {
  while (!tasks_per_node.empty()) {
    const std::string_view entry = tasks_per_node.substr(0, tasks_per_node.find(','));
    tasks_per_node.remove_prefix(std::min(entry.size() + 1, tasks_per_node.size()));
    const std::size_t times = entry.find("(x");
    const auto tasks = number_in(entry.substr(0, times));
    int nodes = 1;
    if (times != std::string_view::npos && entry.ends_with(')'))
      nodes = number_in(entry.substr(times + 2, entry.size() - times - 3)).value_or(1);
    if (!tasks) return std::nullopt;
    if (node < nodes) return tasks;
    node -= nodes;
  }
  return std::nullopt;
}

std::optional<std::string> own_gpu(const LaunchInfo& launch,
                                   const std::optional<std::string>& visible) {
  if (launch.local_size <= 1) return std::nullopt;
  if (!visible) return std::to_string(launch.local_rank);
  std::vector<std::string> gpus;
  for (std::string_view rest = *visible; !rest.empty();) {
    const std::string_view one = rest.substr(0, rest.find(','));
    gpus.emplace_back(one);
    rest.remove_prefix(std::min(one.size() + 1, rest.size()));
  }
  if (gpus.size() <= 1) return std::nullopt;
  const auto own = static_cast<std::size_t>(launch.local_rank);
  return own < gpus.size() ? gpus[own] : "-1";  // no GPU is left for this process
}

}  // namespace tritonsmith::distributed
