// Tests of RedisConnection against a real redis-server that speaks TLS and has users of its own.
#include <arpa/inet.h>
#include <gmock/gmock.h>

#include <csignal>
#include <thread>

#include "base/fd.h"
#include "base/temp_dir.h"
#include "gym/service/redis/redis_job_store.h"
#include "gym/service/redis/testing/redis_server.h"
#include "gym/service/testing/job_store_fixture.h"

namespace tritonsmith::gym::service {
namespace {

using ::testing::HasSubstr;

int free_port_of_loopback() {
  const Fd probe(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  auto* const generic = reinterpret_cast<sockaddr*>(&address);
  EXPECT_EQ(::bind(probe.get(), generic, size), 0);
  EXPECT_EQ(::getsockname(probe.get(), generic, &size), 0);
  return ntohs(address.sin_port);
}

// A certificate that signs itself, so that it is its own CA, for localhost alone.
void make_certificate(const std::filesystem::path& folder, const std::string& name) {
  auto process = Process::spawn(
      {.argv = {"/usr/bin/openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2", "-subj", "/CN=localhost",
                "-addext", "subjectAltName=DNS:localhost", "-keyout", folder / (name + ".key"),
                "-out", folder / (name + ".pem")},
       .environment = {"PATH=/usr/bin"}});
  ASSERT_TRUE(process) << "is openssl installed?";
  const auto ended = process->wait(Deadline::in_seconds(30));
  ASSERT_TRUE(ended && ended->success());
}

class RedisTlsTest : public ::testing::Test {
 protected:
  RedisTlsTest() { std::signal(SIGPIPE, SIG_IGN); }

  std::vector<std::string> options() {
    make_certificate(folder, "server");
    make_certificate(folder, "other");
    return {"--tls-port",
            std::to_string(port),
            "--tls-cert-file",
            folder / "server.pem",
            "--tls-key-file",
            folder / "server.key",
            "--tls-ca-cert-file",
            folder / "server.pem",
            "--tls-auth-clients",
            "optional",
            "--user",
            "gym",
            "on",
            ">open%sesame",
            "~{tritonsmith}:*",
            "&{tritonsmith}:*",
            "+@all",
            "-@admin",
            "--user",
            "default",
            "off"};
  }
  std::string url(const std::string& sign_in = "gym:open%25sesame",
                  const std::string& ca = "server") const {
    return fmt::format("rediss://{}@localhost:{}{}", sign_in, port,
                       ca.empty() ? "" : fmt::format("?ca={}", (folder / (ca + ".pem")).string()));
  }
  static Result<std::unique_ptr<RedisJobStore>> open(const std::string& url) {
    TRY_ASSIGN(auto address, parse_redis_address(url));
    return RedisJobStore::open({.address = std::move(address), .patience = Milliseconds(1500)});
  }
  static std::string problem_of(const std::string& url) {
    const auto opened = open(url);
    return opened ? "none" : opened.error().message;
  }

  Result<TempDir> directory = TempDir::make("redis");
  std::filesystem::path folder = directory->path();
  int port = free_port_of_loopback();
  RedisServer server{directory->path(), options()};
};

TEST_F(RedisTlsTest, SharesJobsOverAnEncryptedLinkByAUserWhoMayTouchItsKeysAlone) {
  const auto api_server = open(url()), worker = open(url());
  ASSERT_TRUE(api_server) << api_server.error().message;
  ASSERT_TRUE(worker) << worker.error().message;
  const std::string large(1 << 20, 'k');  // many records of TLS
  ASSERT_TRUE((*api_server)->submit(std::vector{wish(large)}, {}));
  const auto taken = (*worker)->take({.worker = "worker"}, 1);
  ASSERT_TRUE(taken && taken->size() == 1);
  EXPECT_EQ(taken->at(0).job.kernel, large);
  const Deadline deadline = Deadline::in_seconds(20);
  const std::uint64_t seen = (*api_server)->changes();
  ASSERT_TRUE((*worker)->conclude(
      "worker", std::vector<ConcludedJob>{{api::job_name(wish(large)), api::accepted_verdict()}}));
  (*api_server)->wait_for_change(seen, deadline);
  EXPECT_FALSE(deadline.passed()) << "messages of other programs come over TLS, too";
  EXPECT_EQ((*api_server)->find(api::job_name(wish(large)))->value().state, JobState::done);
}

TEST_F(RedisTlsTest, RefusesAServerWhoseCertificateItDoesNotTrust) {
  EXPECT_THAT(problem_of(url("gym:open%25sesame", "")), HasSubstr("?ca=FILE"));
  EXPECT_THAT(problem_of(url("gym:open%25sesame", "other")), HasSubstr("not trusted"));
  EXPECT_THAT(problem_of(fmt::format("rediss://gym:open%25sesame@127.0.0.1:{}?ca={}", port,
                                     (folder / "server.pem").string())),
              HasSubstr("not trusted"))
      << "the certificate is for localhost";
  EXPECT_THAT(problem_of(url("gym:open%25sesame", "missing")), HasSubstr("missing.pem"));
}

TEST_F(RedisTlsTest, SaysThatTheUserOrThePasswordIsWrong) {
  for (const char* sign_in : {"gym:wrong", "ann:open%25sesame", ":open%25sesame"}) {
    const std::string problem = problem_of(url(sign_in));
    EXPECT_THAT(problem, HasSubstr("check the user and the password")) << sign_in;
    EXPECT_EQ(problem.find("sesame"), std::string::npos);
  }
}

TEST_F(RedisTlsTest, ShowsAServerTheCertificateThatItAsksFor) {
  server.kill();
  auto demanding = options();
  std::ranges::replace(demanding, std::string("optional"), std::string("yes"));
  const RedisServer strict(directory->path(), demanding);
  EXPECT_NE(problem_of(url()), "none");
  const std::string shown = fmt::format("&cert={0}.pem&key={0}.key", (folder / "server").string());
  EXPECT_EQ(problem_of(url() + shown), "none");
}

TEST_F(RedisTlsTest, SaysThatAServerSpeaksNoTls) {
  server.kill();
  const RedisServer plain(directory->path(), {"--port", std::to_string(port)});
  EXPECT_THAT(problem_of(url()), HasSubstr("does the server speak TLS"));
}

TEST(RedisAddress, ReadsTheFilesOfAnEncryptedLink) {
  const auto address = parse_redis_address("rediss://h:7000/2?ca=/a%40b.pem&cert=c&key=k");
  ASSERT_TRUE(address) << address.error().message;
  EXPECT_TRUE(address->is_encrypted);
  EXPECT_EQ(address->tls.ca, "/a@b.pem");
  EXPECT_EQ(address->tls.certificate, "c");
  EXPECT_EQ(address->tls.key, "k");
  EXPECT_EQ(address->database, 2);
  EXPECT_EQ(address->name(), "rediss://h:7000/2");
  EXPECT_FALSE(parse_redis_address("redis://h")->is_encrypted);
  for (const char* wrong :
       {"redis://h?ca=f", "rediss://h?ca=", "rediss://h?x=f", "rediss://h?cert=c"})
    EXPECT_FALSE(parse_redis_address(wrong)) << wrong;
}

}  // namespace
}  // namespace tritonsmith::gym::service
