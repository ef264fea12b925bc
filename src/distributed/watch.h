// Watch: detects lost processes of a job at once. Every process keeps a connection to rank 0. When
// a process dies, the kernel closes its connection, whatever the other processes are doing. Rank 0
// tells the others which rank is lost. A process that ends well says so first. A process that fails
// sends its error, and the other processes end with that message.
//
// Theory of operation. Rank 0 listens on a port of its own and puts it into the job's store. The
// others read it, connect and send the job's token. In each process one thread does all reading.
// Lines:
//   other to first   TOKEN RANK SELF | at NUMBER WHAT | done | failed MESSAGE
//   first to other   all (are here)  | lost SENTENCE  | done
// When a rank is lost, the thread wakes waiting threads and calls the registered functions. The
// main thread may still hang, for example in a GPU that waits for ever. It then gets some grace;
// after that the process prints the sentence and ends.
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "distributed/peers.h"

namespace tritonsmith::distributed {

struct WatchOptions {
  int rank = 0, size = 1;
  std::string token;  // the job's token; a peer without it is rejected
  std::string self;   // this process, for readers: "on node7, process 1234"
  std::chrono::milliseconds grace{20000};
};

class Watch {
 public:
  // of_first makes the watch of rank 0. of_other makes the watch of another rank with its
  // connection to rank 0.
  static Result<std::unique_ptr<Watch>> of_first(WatchOptions options, Listener listener);
  static Result<std::unique_ptr<Watch>> of_other(WatchOptions options, Fd connection);
  ~Watch();

  // Waits until every rank is connected. The error names the missing ranks.
  Status wait_for_all(Deadline deadline);

  enum class Waited { ready, lost, late };
  // Waits until `is_ready` or until a rank is lost. Each wake() asks `is_ready` again.
  Waited wait(const std::function<bool()>& is_ready, Deadline deadline);
  void wake();

  // Returns the sentence about the first lost rank.
  std::optional<Error> lost() const;
  // Calls `call` once, from the watch's thread, when a rank is lost. If one is lost already, it is
  // called at once.
  void call_at_loss(std::function<void()> call);

  // Records that this process has reached its `number`-th joint operation.
  void note(std::uint64_t number, std::string_view what);
  // Returns the ranks that have not reached that operation, as "rank 1 (on ...)". Returns an empty
  // string if there is none. Only rank 0 knows this.
  std::string latecomers(std::uint64_t number) const;

  // Sends the last message of this process: it ended well (leave), or it failed (fail_for).
  void leave();
  void fail_for(const Error& error);

 private:
  Watch(WatchOptions options, Pipe wake_up);
  void start();
  void run();
  bool poll_once();
  void accept_one();
  void read_from(Peer& peer);
  void take_line(Peer& peer, const std::string& line);
  void greet(Peer& peer, const std::string& line);
  void lose(std::string sentence);  // with the lock held
  void end_when_stuck();
  std::string name_of(const Peer& peer) const {
    return name_of_rank(peer.rank, options_.size, peer.self);
  }

  WatchOptions options_;
  Fd listener_;  // rank 0 only
  Pipe wake_up_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  Peers peers_;  // only the watch's thread adds and removes peers
  std::optional<Error> lost_;
  std::optional<Deadline> grace_ends_;
  std::vector<std::function<void()>> calls_at_loss_;
  bool are_all_here_ = false, has_left_ = false, is_stopping_ = false;
  std::thread thread_;
};

}  // namespace tritonsmith::distributed
