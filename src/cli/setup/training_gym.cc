#include "cli/setup/training_gym.h"

#include "cli/setup/shared_gpu.h"

namespace tritonsmith::cli {

GymChoice gym_of(const train::RlConfig& config, const GymChoice& named) {
  GymChoice gym = named;
  if (named.url.empty()) {
    gym.url = config.judge.url;
    gym.token_file = config.judge.token_file;
  }
  if (named.device.empty()) gym.device = config.judge.device;
  gym.gpus = config.judge.gpus;
  gym.lease = config.judge.lease;
  // Training uses the first GPU. If there are more, the judge takes another one.
  if (gym.gpus.empty() && config.model.device != model::DeviceChoice::cpu && visible_gpus() > 1)
    gym.gpus = {1};
  return gym;
}

}  // namespace tritonsmith::cli
