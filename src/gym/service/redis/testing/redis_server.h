// RedisServer: a real redis-server in a temporary folder, for tests. It listens on a socket file
// there and on no port. A test may kill it and start it again: its append-only file keeps what it
// has acknowledged.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>

#include "base/process.h"
#include "gym/service/redis/redis_connection.h"

namespace tritonsmith::gym::service {

class RedisServer {
 public:
  explicit RedisServer(std::filesystem::path directory) : directory_(std::move(directory)) {
    start();
  }
  RedisAddress address() const { return {.socket = directory_ / "redis.sock"}; }
  void start() {
    std::filesystem::remove(directory_ / "redis.sock");
    // Debian's redis-tools has the server too: it is the same program under another name. The
    // package redis-server would also start a service.
    const std::filesystem::path program = directory_ / "redis-server";
    if (!std::filesystem::exists(program))
      std::filesystem::create_symlink("/usr/bin/redis-check-rdb", program);
    auto process =
        Process::spawn({.argv = {program, "--port", "0", "--unixsocket", address().socket, "--dir",
                                 directory_, "--save", "", "--appendonly", "yes", "--appendfsync",
                                 "always", "--logfile", "redis.log"},
                        .environment = {"PATH=/usr/bin"}});
    EXPECT_TRUE(process) << "is redis-tools installed?";
    process_.emplace(*std::move(process));
  }
  void kill() {
    process_->kill_tree();
    process_.reset();
  }

 private:
  std::filesystem::path directory_;
  std::optional<Process> process_;
};

}  // namespace tritonsmith::gym::service
