#include "distributed/launch_info.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace tritonsmith::distributed {
namespace {

using ::testing::HasSubstr;

Result<LaunchInfo> launch_info_of(std::map<std::string, std::string> variables) {
  return launch_info_from([&](const std::string& name) -> std::optional<std::string> {
    const auto at = variables.find(name);
    return at == variables.end() ? std::nullopt : std::optional(at->second);
  });
}

std::string refusal_of(std::map<std::string, std::string> variables) {
  const auto launch = launch_info_of(std::move(variables));
  return launch ? "" : launch.error().message;
}

TEST(LaunchInfo, IsAloneWithoutALauncher) {
  for (const auto& variables : {std::map<std::string, std::string>{},
                                {{"RANK", "0"}, {"WORLD_SIZE", "1"}},
                                {{"RANK", "3"}},
                                {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}}) {
    const auto launch = launch_info_of(variables);
    ASSERT_TRUE(launch) << launch.error().message;
    EXPECT_TRUE(launch->is_alone());
  }
}

TEST(LaunchInfo, ReadsWhatTorchrunSays) {
  const auto launch = launch_info_of({{"RANK", "5"},
                                      {"WORLD_SIZE", "8"},
                                      {"LOCAL_RANK", "1"},
                                      {"LOCAL_WORLD_SIZE", "4"},
                                      {"MASTER_ADDR", "node1"},
                                      {"MASTER_PORT", "4242"},
                                      {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                                      {"TORCHELASTIC_RESTART_COUNT", "2"}});
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->rank, 5);
  EXPECT_EQ(launch->size, 8);
  EXPECT_EQ(launch->local_rank, 1);
  EXPECT_EQ(launch->local_size, 4);
  EXPECT_TRUE(launch->spans_hosts());
  EXPECT_EQ(launch->host, "node1");
  EXPECT_EQ(launch->port, 4242);
  EXPECT_TRUE(launch->launcher_keeps_store);
  EXPECT_EQ(launch->store_prefix, "/worker/attempt_2");
}

TEST(LaunchInfo, FillsInWhatACallByHandLeavesOut) {
  const auto here =
      launch_info_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}});
  ASSERT_TRUE(here) << here.error().message;
  EXPECT_EQ(here->local_rank, 1);
  EXPECT_FALSE(here->spans_hosts());
  EXPECT_FALSE(here->launcher_keeps_store);
  const auto apart = launch_info_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "node1"}});
  ASSERT_TRUE(apart) << apart.error().message;
  EXPECT_EQ(apart->local_rank, 0);
  EXPECT_TRUE(apart->spans_hosts());
}

TEST(LaunchInfo, ReadsAStepOfSlurmButNotItsBatchScript) {
  std::map<std::string, std::string> variables = {{"SLURM_PROCID", "6"},
                                                  {"SLURM_NTASKS", "8"},
                                                  {"SLURM_LOCALID", "2"},
                                                  {"SLURM_NODEID", "1"},
                                                  {"SLURM_NNODES", "2"},
                                                  {"SLURM_TASKS_PER_NODE", "4(x2)"},
                                                  {"SLURM_JOB_NODELIST", "gpu[07-08]"},
                                                  {"SLURM_JOB_ID", "1234567"}};
  const auto script = launch_info_of(variables);
  ASSERT_TRUE(script);
  EXPECT_TRUE(script->is_alone());
  variables["SLURM_STEP_ID"] = "0";
  const auto launch = launch_info_of(variables);
  ASSERT_TRUE(launch) << launch.error().message;
  EXPECT_EQ(launch->rank, 6);
  EXPECT_EQ(launch->size, 8);
  EXPECT_EQ(launch->local_rank, 2);
  EXPECT_EQ(launch->local_size, 4);
  EXPECT_EQ(launch->host, "gpu07");
  EXPECT_EQ(launch->port, 15000 + 1234567 % 20000);
}

TEST(LaunchInfo, ReadsWhatMpiSays) {
  const auto open_mpi = launch_info_of({{"OMPI_COMM_WORLD_RANK", "1"},
                                        {"OMPI_COMM_WORLD_SIZE", "2"},
                                        {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                        {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  ASSERT_TRUE(open_mpi) << open_mpi.error().message;
  EXPECT_EQ(open_mpi->rank, 1);
  EXPECT_EQ(open_mpi->host, "127.0.0.1");
  const auto hydra =
      launch_info_of({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"MASTER_PORT", "29600"}});
  ASSERT_TRUE(hydra) << hydra.error().message;
  EXPECT_EQ(hydra->size, 4);
  EXPECT_EQ(hydra->port, 29600);
}

TEST(LaunchInfo, NamesTheVariableThatIsWrong) {
  EXPECT_THAT(refusal_of({{"RANK", "one"}, {"WORLD_SIZE", "2"}}), HasSubstr("RANK is 'one'"));
  EXPECT_THAT(refusal_of({{"RANK", "2"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}}),
              HasSubstr("RANK is 2, but there are 2 ranks"));
  EXPECT_THAT(refusal_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}}),
              HasSubstr("MASTER_ADDR is not set"));
  EXPECT_THAT(
      refusal_of(
          {{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "a"}, {"MASTER_PORT", "70000"}}),
      HasSubstr("MASTER_PORT is 70000"));
  EXPECT_THAT(refusal_of({{"OMPI_COMM_WORLD_RANK", "1"},
                          {"OMPI_COMM_WORLD_SIZE", "4"},
                          {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}}),
              HasSubstr("MASTER_ADDR"));
}

TEST(LaunchInfo, UnderstandsSlurmsShortForms) {
  EXPECT_EQ(first_host("alpha"), "alpha");
  EXPECT_EQ(first_host("alpha,beta"), "alpha");
  EXPECT_EQ(first_host("n[003-010,12]-ib,other"), "n003-ib");
  EXPECT_EQ(first_host("rack[1-2]n[7,9]"), "rack1n7");
  EXPECT_EQ(tasks_on_node("4(x2),3", 1), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 2), 3);
  EXPECT_EQ(tasks_on_node("4(x2),3", 3), std::nullopt);
  EXPECT_EQ(tasks_on_node("?", 0), std::nullopt);
}

TEST(LaunchInfo, GivesEachProcessOfAHostItsOwnGpu) {
  const LaunchInfo launch{.rank = 5, .size = 8, .local_rank = 1, .local_size = 4};
  EXPECT_EQ(own_gpu(launch, std::nullopt), "1");
  EXPECT_EQ(own_gpu(launch, "4,6,7"), "6");
  EXPECT_EQ(own_gpu({.rank = 2, .size = 3, .local_rank = 2, .local_size = 3}, "4,6"), "-1")
      << "none is left";
  EXPECT_EQ(own_gpu(launch, "GPU-1f2e"), std::nullopt) << "the launcher has dealt them out";
  EXPECT_EQ(own_gpu(LaunchInfo{.rank = 1, .size = 2}, std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace tritonsmith::distributed
