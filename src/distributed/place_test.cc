#include "distributed/place.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>

namespace tritonsmith::distributed {
namespace {

using ::testing::HasSubstr;

Result<Place> place_of(std::map<std::string, std::string> variables) {
  return place_from([&](const std::string& name) -> std::optional<std::string> {
    const auto at = variables.find(name);
    return at == variables.end() ? std::nullopt : std::optional(at->second);
  });
}

std::string refusal_of(std::map<std::string, std::string> variables) {
  const auto place = place_of(std::move(variables));
  return place ? "" : place.error().message;
}

TEST(Place, IsAloneWithoutALauncher) {
  for (const auto& variables : {std::map<std::string, std::string>{},
                                {{"RANK", "0"}, {"WORLD_SIZE", "1"}},
                                {{"RANK", "3"}},
                                {{"SLURM_PROCID", "0"}, {"SLURM_NTASKS", "1"}}}) {
    const auto place = place_of(variables);
    ASSERT_TRUE(place) << place.error().message;
    EXPECT_TRUE(place->is_alone());
  }
}

TEST(Place, ReadsWhatTorchrunSays) {
  const auto place = place_of({{"RANK", "5"},
                               {"WORLD_SIZE", "8"},
                               {"LOCAL_RANK", "1"},
                               {"LOCAL_WORLD_SIZE", "4"},
                               {"MASTER_ADDR", "node1"},
                               {"MASTER_PORT", "4242"},
                               {"TORCHELASTIC_USE_AGENT_STORE", "True"},
                               {"TORCHELASTIC_RESTART_COUNT", "2"}});
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->rank, 5);
  EXPECT_EQ(place->size, 8);
  EXPECT_EQ(place->local_rank, 1);
  EXPECT_EQ(place->local_size, 4);
  EXPECT_TRUE(place->spans_hosts());
  EXPECT_EQ(place->host, "node1");
  EXPECT_EQ(place->port, 4242);
  EXPECT_TRUE(place->launcher_keeps_store);
  EXPECT_EQ(place->store_prefix, "/worker/attempt_2");
}

TEST(Place, FillsInWhatACallByHandLeavesOut) {
  const auto here = place_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "127.0.0.1"}});
  ASSERT_TRUE(here) << here.error().message;
  EXPECT_EQ(here->local_rank, 1);
  EXPECT_FALSE(here->spans_hosts());
  EXPECT_FALSE(here->launcher_keeps_store);
  const auto apart = place_of({{"RANK", "1"}, {"WORLD_SIZE", "2"}, {"MASTER_ADDR", "node1"}});
  ASSERT_TRUE(apart) << apart.error().message;
  EXPECT_EQ(apart->local_rank, 0);
  EXPECT_TRUE(apart->spans_hosts());
}

TEST(Place, ReadsAStepOfSlurmButNotItsBatchScript) {
  std::map<std::string, std::string> variables = {{"SLURM_PROCID", "6"},
                                                  {"SLURM_NTASKS", "8"},
                                                  {"SLURM_LOCALID", "2"},
                                                  {"SLURM_NODEID", "1"},
                                                  {"SLURM_NNODES", "2"},
                                                  {"SLURM_TASKS_PER_NODE", "4(x2)"},
                                                  {"SLURM_JOB_NODELIST", "gpu[07-08]"},
                                                  {"SLURM_JOB_ID", "1234567"}};
  const auto script = place_of(variables);
  ASSERT_TRUE(script);
  EXPECT_TRUE(script->is_alone());
  variables["SLURM_STEP_ID"] = "0";
  const auto place = place_of(variables);
  ASSERT_TRUE(place) << place.error().message;
  EXPECT_EQ(place->rank, 6);
  EXPECT_EQ(place->size, 8);
  EXPECT_EQ(place->local_rank, 2);
  EXPECT_EQ(place->local_size, 4);
  EXPECT_EQ(place->host, "gpu07");
  EXPECT_EQ(place->port, 15000 + 1234567 % 20000);
}

TEST(Place, ReadsWhatMpiSays) {
  const auto open_mpi = place_of({{"OMPI_COMM_WORLD_RANK", "1"},
                                  {"OMPI_COMM_WORLD_SIZE", "2"},
                                  {"OMPI_COMM_WORLD_LOCAL_RANK", "1"},
                                  {"OMPI_COMM_WORLD_LOCAL_SIZE", "2"}});
  ASSERT_TRUE(open_mpi) << open_mpi.error().message;
  EXPECT_EQ(open_mpi->rank, 1);
  EXPECT_EQ(open_mpi->host, "127.0.0.1");
  const auto hydra = place_of({{"PMI_RANK", "0"}, {"PMI_SIZE", "4"}, {"MASTER_PORT", "29600"}});
  ASSERT_TRUE(hydra) << hydra.error().message;
  EXPECT_EQ(hydra->size, 4);
  EXPECT_EQ(hydra->port, 29600);
}

TEST(Place, NamesTheVariableThatIsWrong) {
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

TEST(Place, UnderstandsSlurmsShortForms) {
  EXPECT_EQ(first_host("alpha"), "alpha");
  EXPECT_EQ(first_host("alpha,beta"), "alpha");
  EXPECT_EQ(first_host("n[003-010,12]-ib,other"), "n003-ib");
  EXPECT_EQ(first_host("rack[1-2]n[7,9]"), "rack1n7");
  EXPECT_EQ(tasks_on_node("4(x2),3", 1), 4);
  EXPECT_EQ(tasks_on_node("4(x2),3", 2), 3);
  EXPECT_EQ(tasks_on_node("4(x2),3", 3), std::nullopt);
  EXPECT_EQ(tasks_on_node("?", 0), std::nullopt);
}

TEST(Place, GivesEachProcessOfAHostItsOwnGpu) {
  const Place place{.rank = 5, .size = 8, .local_rank = 1, .local_size = 4};
  EXPECT_EQ(own_gpu(place, std::nullopt), "1");
  EXPECT_EQ(own_gpu(place, "4,6,7"), "6");
  EXPECT_EQ(own_gpu({.rank = 2, .size = 3, .local_rank = 2, .local_size = 3}, "4,6"), "-1")
      << "none is left";
  EXPECT_EQ(own_gpu(place, "GPU-1f2e"), std::nullopt) << "the launcher has dealt them out";
  EXPECT_EQ(own_gpu(Place{.rank = 1, .size = 2}, std::nullopt), std::nullopt);
}

}  // namespace
}  // namespace tritonsmith::distributed
