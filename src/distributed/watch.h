// Watch: every process of a job keeps a connection to rank 0, so that a process that dies is missed
// at once, whatever the others are doing: the kernel closes its connection. Rank 0 tells the rest
// which one it was. A process that ends well says so first; one that fails says why, and that is
// what the others end with.
//
// Theory of operation. Rank 0 listens on a port of its own; the others find it in the job's store,
// connect and show the job's token. One thread per process owns all reading. Lines:
//   other to first   TOKEN RANK SELF | at NUMBER WHAT | done | failed MESSAGE
//   first to other   all (are here)  | lost SENTENCE  | done
// When a rank is lost the thread wakes whoever waits and calls what is to be aborted; a main thread
// that is stuck all the same (in a GPU that waits for ever) is given some grace, then the process
// says the sentence and ends.
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
#include "distributed/line_socket.h"

namespace tritonsmith::distributed {

struct WatchOptions {
  int rank = 0, size = 1;
  std::string token;  // of the job: who does not know it is none of us
  std::string self;   // where this process is, for people: "on node7, process 1234"
  std::chrono::milliseconds grace{20000};
};

class Watch {
 public:
  // Of rank 0, and of any other with its connection to rank 0.
  static Result<std::unique_ptr<Watch>> of_first(WatchOptions options, Listener listener);
  static Result<std::unique_ptr<Watch>> of_other(WatchOptions options, Fd connection);
  ~Watch();

  // Until every rank is connected; names those that are missing.
  Status wait_for_all(Deadline deadline);

  enum class Waited { ready, lost, late };
  // Until `is_ready`, which is asked anew after each wake(), or a rank is lost.
  Waited wait(const std::function<bool()>& is_ready, Deadline deadline);
  void wake();

  // The sentence about the first rank that was lost.
  std::optional<Error> lost() const;
  // Called once from the watch's thread when one is lost; at once when one is lost already.
  void call_at_loss(std::function<void()> call);

  // This process has come to its `number`-th joint operation.
  void note(std::uint64_t number, std::string_view what);
  // Known to rank 0: who has not come to that operation, as "rank 1 (on ...)"; empty: nobody.
  std::string latecomers(std::uint64_t number) const;

  // The last word of this process to the others: that it ended well, or why not.
  void leave();
  void fail_for(const Error& error);

 private:
  struct Peer {
    Fd connection;
    LineReader reader;
    int rank = -1;  // not known yet
    std::string self;
    std::uint64_t number = 0;  // of the operation it has come to
    bool has_left = false, is_closed = false;
  };
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
  std::string name_of(int rank, std::string_view self) const;
  void tell_all(std::string_view line);  // with the lock held
  std::size_t joined() const;            // likewise
  std::string missing() const;           // likewise

  WatchOptions options_;
  Fd listener_;  // of rank 0
  Pipe wake_up_;
  mutable std::mutex mutex_;
  std::condition_variable changed_;
  std::vector<std::unique_ptr<Peer>> peers_;  // added and removed by the thread alone
  std::optional<Error> lost_;
  std::optional<Deadline> grace_ends_;
  std::vector<std::function<void()>> calls_at_loss_;
  bool are_all_here_ = false, has_left_ = false, is_stopping_ = false;
  std::thread thread_;
};

}  // namespace tritonsmith::distributed
