// RedisServer: a real redis-server in a temporary folder, for tests. It listens on a socket file
// there, and on a port only if `options` say so. A test may kill it and start it again: its
// append-only file keeps what it has acknowledged.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/process.h"
#include "gym/service/redis/redis_connection.h"

namespace tritonsmith::gym::service {

class RedisServer {
 public:
  // `options` are further words of the server's command line.
  explicit RedisServer(std::filesystem::path directory, std::vector<std::string> options = {})
      : directory_(std::move(directory)), options_(std::move(options)) {
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
    std::vector<std::string> words = {program,
                                      "--port",
                                      "0",
                                      "--unixsocket",
                                      address().socket,
                                      "--dir",
                                      directory_,
                                      "--save",
                                      "",
                                      "--appendonly",
                                      "yes",
                                      "--appendfsync",
                                      "always",
                                      "--logfile",
                                      "redis.log"};
    words.insert(words.end(), options_.begin(), options_.end());
    auto process = Process::spawn({.argv = std::move(words), .environment = {"PATH=/usr/bin"}});
    EXPECT_TRUE(process) << "is redis-tools installed?";
    process_.emplace(*std::move(process));
  }
  void kill() {
    process_->kill_tree();
    process_.reset();
  }

 private:
  std::filesystem::path directory_;
  std::vector<std::string> options_;
  std::optional<Process> process_;
};

}  // namespace tritonsmith::gym::service
