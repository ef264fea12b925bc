// Verifier: a model that is asked whether a kernel really does the module's work (questions.h). It
// takes kernels and gives opinions in the order in which their votes are complete. Each vote is a
// request of its own to any Writer, and is stored by content before it counts.
//
// It is no judge: it runs nothing and proves nothing. One thread calls it. A call fails when the
// writer is broken or the store cannot be written.
#pragma once

#include <functional>
#include <map>
#include <set>
#include <span>
#include <vector>

#include "generate/writer.h"
#include "verifier/questions.h"
#include "verifier/verifier_config.h"
#include "verifier/vote_store.h"

namespace tritonsmith::verifier {

struct Subject {
  std::uint64_t id = 0;        // the caller's; differs between the subjects in flight
  const Task* task = nullptr;  // read by submit() alone
  std::string kernel;
  Policy policy = Policy::strict;
};

struct Opinion {
  std::uint64_t id = 0;
  int votes = 0;
  int unreadable = 0;  // votes among them that hold no answer
  std::array<int, kQuestions> yes{};
  // One for each question that more than half of the votes answer with yes. If no vote can be
  // read, a note says so.
  std::vector<Finding> findings;

  bool objects() const;  // a question has its majority
};

// Counts what a verifier did since it was opened.
struct VerifierWork {
  int kernels = 0;
  int votes = 0;
  int asked = 0;  // requests to the model; the other votes were stored, or are of equal kernels
  Usage usage;    // of the requests
  double cost = 0;
  // "24 votes on 8 kernels, 18 requests: 51200 prompt tokens, 900 completion tokens, cost 0.0300"
  std::string to_text() const;
};

struct VerifierParts {
  generate::Writer& writer;
  std::string model;            // its name: votes of another model count for nothing
  std::filesystem::path store;  // a file; empty: votes are kept in memory
  std::function<double(const Usage&)> cost = nullptr;
};

class Verifier {
 public:
  static Result<std::unique_ptr<Verifier>> open(const VerifierConfig& config, VerifierParts parts);

  Status submit(const Subject& subject);
  // Returns nothing at the deadline, or if no subject is in flight.
  Result<std::optional<Opinion>> next(Deadline deadline);
  // Gives up a subject. Votes that are on their way still arrive and are stored.
  void cancel(std::uint64_t id);
  bool is_idle() const { return subjects_.empty(); }

  const VerifierConfig& config() const { return config_; }
  const VerifierWork& work() const { return work_; }

 private:
  struct Request {
    std::string key;
    std::vector<std::uint64_t> subjects;  // that wait for this vote
  };
  Verifier(const VerifierConfig& config, VerifierParts parts, std::unique_ptr<VoteStore> store)
      : config_(config), parts_(std::move(parts)), store_(std::move(store)) {}
  Status ask(std::uint64_t subject, const std::vector<text::Message>& messages, int number);
  Status take(generate::Written written);
  void count(std::uint64_t subject, const std::string& text);
  Opinion finish(std::uint64_t subject);

  VerifierConfig config_;
  VerifierParts parts_;
  std::unique_ptr<VoteStore> store_;
  struct Open {
    Opinion opinion;
    std::array<std::string, kQuestions> reasons;  // of the first yes
  };
  std::map<std::uint64_t, Open> subjects_;
  std::set<std::uint64_t> complete_;            // subjects whose votes are all there
  std::map<std::uint64_t, Request> requests_;   // by the writer's ids
  std::map<std::string, std::uint64_t> asked_;  // keys in flight
  std::uint64_t last_request_ = 0;
  VerifierWork work_;
};

// Returns the verdict as it was before a verifier spoke.
Verdict without_opinion(Verdict verdict);
// Says whether a verifier of this scope is asked about the kernel. The verdict is one before it
// spoke.
bool is_asked_about(const Verdict& verdict, Scope scope);

// Puts the opinion's findings into the verdict, in place of an earlier opinion's.
void add_opinion(const Opinion& opinion, Verdict& verdict);

// Asks about all subjects, and returns the opinions in their order. `tell` hears how many there
// are.
Result<std::vector<Opinion>> review_all(Verifier& verifier, std::vector<Subject> subjects,
                                        const std::function<void(std::size_t)>& tell = nullptr);

}  // namespace tritonsmith::verifier
