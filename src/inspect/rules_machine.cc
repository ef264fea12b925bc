// Rules about access to the machine: its files, processes, network and threads. The sandbox makes most
// of these accesses harmless, but a model must not learn them.
#include <algorithm>
#include <array>

#include "inspect/imports.h"
#include "inspect/rules.h"

namespace tritonsmith::inspect {

void find_file_access(const Candidate& candidate, Matches& matches) {
  find_builtin_calls(candidate, matches, {"open"}, "opens a file");
  find_uses(candidate, matches,
            {"io.open",
             "io.FileIO",
             "codecs.open",
             "pathlib",
             "shutil",
             "tempfile",
             "glob",
             "fileinput",
             "mmap",
             "sqlite3",
             "zipfile",
             "tarfile",
             "shelve",
             "dbm",
             "os.open",
             "os.read",
             "os.write",
             "os.listdir",
             "os.walk",
             "os.scandir",
             "os.remove",
             "os.unlink",
             "os.rename",
             "os.replace",
             "os.mkdir",
             "os.makedirs",
             "os.rmdir",
             "os.chdir",
             "os.chmod",
             "os.dup",
             "os.dup2",
             "os.pipe",
             "os.fdopen",
             "os.path.exists",
             "os.path.isfile",
             "os.path.isdir",
             "os.symlink",
             "os.link",
             "os.truncate",
             "os.getcwd",
             "os.stat",
             "torch.save",
             "torch.load",
             "torch.jit.load",
             "torch.hub",
             "numpy.load",
             "numpy.save",
             "numpy.fromfile",
             "numpy.memmap",
             "torch.from_file",
             "logging.FileHandler",
             "logging.handlers"},
            "reaches for files");
}

namespace {

// Names of torch.distributed that have one answer in a process alone: questions about the group, the
// types of distributed tensors, of which there are none, and exchanges, which fail without a group.
// Code that calls these is dead here, and the capture shows it if it is not.
bool asks_for_one_process(std::string_view path) {
  constexpr auto kQuestions = std::to_array<std::string_view>({"is_available",
                                                               "is_initialized",
                                                               "is_nccl_available",
                                                               "is_gloo_available",
                                                               "is_mpi_available",
                                                               "is_ucc_available",
                                                               "is_xccl_available",
                                                               "is_backend_available",
                                                               "is_torchelastic_launched",
                                                               "get_world_size",
                                                               "get_rank",
                                                               "get_process_group_ranks",
                                                               "ProcessGroup",
                                                               "ReduceOp",
                                                               "group",
                                                               "GroupMember",
                                                               "all_reduce",
                                                               "reduce",
                                                               "broadcast",
                                                               "all_gather",
                                                               "all_gather_into_tensor",
                                                               "reduce_scatter",
                                                               "reduce_scatter_tensor",
                                                               "all_to_all",
                                                               "all_to_all_single",
                                                               "barrier",
                                                               "tensor",
                                                               "_tensor",
                                                               "device_mesh",
                                                               "DeviceMesh"});
  constexpr std::string_view kModule = "torch.distributed";
  if (path == kModule) return true;
  std::string_view rest = path.substr(std::min(path.size(), kModule.size() + 1));
  constexpr std::string_view inner = "distributed_c10d.";  // where these names are defined
  if (rest.starts_with(inner)) rest.remove_prefix(inner.size());
  return std::ranges::find(kQuestions, rest.substr(0, rest.find('.'))) != kQuestions.end();
}

}  // namespace

void find_process_access(const Candidate& candidate, Matches& matches) {
  find_builtin_calls(candidate, matches, {"exit", "quit"}, "ends the process");
  constexpr auto kProcesses = std::to_array<std::string_view>({"subprocess",
                                                               "multiprocessing",
                                                               "torch.multiprocessing",
                                                               "signal",
                                                               "atexit",
                                                               "pty",
                                                               "resource",
                                                               "fcntl",
                                                               "faulthandler",
                                                               "posix",
                                                               "psutil",
                                                               "pynvml",
                                                               "sys.exit",
                                                               "sys.stdout",
                                                               "sys.stderr",
                                                               "sys.stdin",
                                                               "sys.__stdout__",
                                                               "sys.argv",
                                                               "os.system",
                                                               "os.popen",
                                                               "os.fork",
                                                               "os.forkpty",
                                                               "os.kill",
                                                               "os.killpg",
                                                               "os._exit",
                                                               "os.abort",
                                                               "os.execv",
                                                               "os.execve",
                                                               "os.execl",
                                                               "os.execvp",
                                                               "os.spawnl",
                                                               "os.spawnv",
                                                               "os.posix_spawn",
                                                               "os.setsid",
                                                               "os.nice",
                                                               "os.getppid",
                                                               "os.getuid",
                                                               "os.geteuid",
                                                               "os.getgid",
                                                               "os.getlogin",
                                                               "os.uname",
                                                               "platform.node",
                                                               "platform.uname",
                                                               "os.wait",
                                                               "os.waitpid",
                                                               "os.register_at_fork",
                                                               "os.ptrace",
                                                               "os.sched_setaffinity"});
  find_uses_of(candidate, matches, kProcesses, "reaches for processes");
  for (const Use& use : candidate.uses)
    if (use.imported && is_or_is_in(use.path, "torch.distributed") &&
        !asks_for_one_process(use.path) && !is_idle_import(candidate, use))
      matches.add(use.node, fmt::format("`{}` reaches for processes", use.path));
}

void find_network_access(const Candidate& candidate, Matches& matches) {
  find_uses(candidate, matches,
            {"socket", "socketserver", "ssl", "urllib", "urllib3", "http", "requests", "httpx",
             "aiohttp", "ftplib", "smtplib", "telnetlib", "xmlrpc", "select", "selectors",
             "huggingface_hub", "pip", "ensurepip"},
            "reaches for the network");
}

bool guards_against_threads(std::string_view path) {
  constexpr auto kGuards = std::to_array<std::string_view>(
      {"threading.Lock", "threading.RLock", "threading.local", "threading.get_ident"});
  return path == "threading" ||
         std::ranges::any_of(kGuards, [&](auto guard) { return is_or_is_in(path, guard); });
}

void find_threads(const Candidate& candidate, Matches& matches) {
  find_uses(candidate, matches,
            {"_thread", "concurrent", "asyncio", "queue", "sched", "trio", "gevent",
             "torch.set_num_threads"},
            "runs code beside the judged call");
  const bool lone = std::ranges::none_of(candidate.uses, [](const Use& use) {
    return is_or_is_in(use.path, "threading") && use.path != "threading";
  });
  for (const Use& use : candidate.uses)
    if (use.imported && is_or_is_in(use.path, "threading") && !is_idle_import(candidate, use) &&
        (lone || !guards_against_threads(use.path)))
      matches.add(use.node, fmt::format("`{}` runs code beside the judged call", use.path));
}

}  // namespace tritonsmith::inspect
