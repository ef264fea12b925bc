// FakeHub: a hub on this machine, and a second server as its CDN. It answers as the real one does:
// the API's revision and tree, redirects of large files, error codes in headers, byte ranges. A test
// makes it fail.
#pragma once

#include <httplib.h>

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/hash.h"
#include "base/json.h"

namespace tritonsmith::hub {

inline constexpr const char* kFakeCommit = "0123456789abcdef0123456789abcdef01234567";

struct FakeFile {
  std::string content, git_sha1;
  bool is_large = false;
};

class FakeHub {
 public:
  FakeHub() {
    hub_.Get("/api/models/owner/name/revision/main",
             [this](const httplib::Request& request, httplib::Response& response) {
               note(request);
               if (refuse(response)) return;
               response.set_content(Json{{"sha", kFakeCommit}}.dump(), "application/json");
             });
    hub_.Get(std::string("/api/models/owner/name/tree/") + kFakeCommit,
             [this](const httplib::Request& request, httplib::Response& response) {
               note(request);
               send_tree(request, response);
             });
    hub_.Get(std::string("/owner/name/resolve/") + kFakeCommit + "/(.*)",
             [this](const httplib::Request& request, httplib::Response& response) {
               note(request);
               const FakeFile& file = files.at(request.matches[1]);
               if (!file.is_large) return send(file.content, response);
               response.status = 302;
               response.set_header("Location",
                                   cdn_url() + "/" + request.matches[1].str() + "?sig=a,b");
             });
    cdn_.Get("/(.*)", [this](const httplib::Request& request, httplib::Response& response) {
      note(request);
      send(files.at(request.matches[1]).content, response);
    });
    hub_port_ = hub_.bind_to_any_port("127.0.0.1");
    cdn_port_ = cdn_.bind_to_any_port("127.0.0.1");
    threads_.emplace_back([this] { hub_.listen_after_bind(); });
    threads_.emplace_back([this] { cdn_.listen_after_bind(); });
    while (!hub_.is_running() || !cdn_.is_running()) std::this_thread::yield();
  }
  ~FakeHub() {
    hub_.stop();
    cdn_.stop();
  }

  std::string url() const { return "http://127.0.0.1:" + std::to_string(hub_port_); }
  std::string cdn_url() const { return "http://127.0.0.1:" + std::to_string(cdn_port_); }

  // "GET /path Range: bytes=7- Authorization: Bearer t", as they came.
  std::vector<std::string> asked() const {
    const std::lock_guard lock(mutex_);
    return asked_;
  }

  std::map<std::string, FakeFile> files;
  // The first so many answers with content stop in the middle, after `cut_after` bytes.
  std::atomic<int> cuts = 0;
  std::atomic<std::size_t> cut_after = 0;
  std::atomic<int> busy = 0;  // the first so many lookups are answered with 503
  int refusal = 0;            // the status of every lookup; 0: none
  std::string error_code;

 private:
  void note(const httplib::Request& request) {
    const std::lock_guard lock(mutex_);
    std::string line = request.target;
    for (const char* name : {"Range", "Authorization"})
      if (request.has_header(name))
        line += std::string(" ") + name + ": " + request.get_header_value(name);
    asked_.push_back(std::move(line));
  }

  bool refuse(httplib::Response& response) {
    if (busy.fetch_sub(1) > 0) {
      response.status = 503;
      return true;
    }
    if (refusal == 0) return false;
    response.status = refusal;
    response.set_header("X-Error-Code", error_code);
    return true;
  }

  // In pages of two files.
  void send_tree(const httplib::Request& request, httplib::Response& response) {
    Json page = {{{"type", "directory"}, {"path", "folder"}, {"oid", "x"}, {"size", 0}}};
    std::size_t at = 0;
    const std::size_t begin =
        request.has_param("cursor") ? std::stoul(request.get_param_value("cursor")) : 0;
    for (const auto& [path, file] : files) {
      if (at++ < begin || at > begin + 2) continue;
      Json entry = {
          {"type", "file"}, {"path", path}, {"oid", file.git_sha1}, {"size", file.content.size()}};
      if (file.is_large)
        entry["lfs"] = {{"oid", content_key(file.content)},
                        {"size", file.content.size()},
                        {"pointerSize", 130}};
      page.push_back(std::move(entry));
    }
    if (begin + 2 < files.size())
      response.set_header("Link", "<" + url() + request.path + "?recursive=true&cursor=" +
                                      std::to_string(begin + 2) + ">; rel=\"next\"");
    response.set_content(page.dump(), "application/json");
  }

  void send(const std::string& content, httplib::Response& response) {
    const bool is_cut = cuts.fetch_sub(1) > 0;
    response.set_content_provider(
        content.size(), "application/octet-stream",
        [content, is_cut, end = cut_after.load()](std::size_t offset, std::size_t length,
                                                  httplib::DataSink& sink) {
          if (!is_cut) return sink.write(content.data() + offset, length);
          if (offset < end) sink.write(content.data() + offset, std::min(length, end - offset));
          return false;
        });
  }

  httplib::Server hub_, cdn_;
  int hub_port_ = 0, cdn_port_ = 0;
  mutable std::mutex mutex_;
  std::vector<std::string> asked_;
  std::vector<std::jthread> threads_;
};

}  // namespace tritonsmith::hub
