// main() of every Catch2 program. All ranks run the same test cases in the same order. Rank 0
// reports; another rank is silent unless it fails: then it reports at once, with its number. After
// each test case the ranks wait for each other. If a rank fails and leaves a test case early while
// the others wait in a collective of it, that rank ends the run, so that it does not hang.
#if __has_include(<catch2/catch_session.hpp>)
#include <catch2/catch_all.hpp>
#include <catch2/catch_session.hpp>
#define SHARDTYPE_TEST_CATCH3 1
#else
#define CATCH_CONFIG_RUNNER
#include <catch2/catch.hpp>
#define SHARDTYPE_TEST_CATCH3 0
#endif

#include <chrono>
#include <iostream>
#include <sstream>
#include <streambuf>
#include <string>
#include <thread>

#include <mpi.h>
#include <sched.h>

#include <shardtype/runtime/environment.hpp>

namespace {

// The harness has its own communicator, so that its messages and those of a test never mix.
MPI_Comm harness_comm = MPI_COMM_NULL;
int harness_rank = 0;
long harness_failures = 0;
long harness_cases = 0;

constexpr std::chrono::seconds stray_limit{10};

// The sum over all ranks; yields while it waits. A rank that failed stops waiting after a time
// limit.
long sum_over_ranks(long mine, bool give_up, std::string const& where) {
  long total = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Iallreduce(&mine, &total, 1, MPI_LONG, MPI_SUM, harness_comm, &request);
  auto const start = std::chrono::steady_clock::now();
  for (int done = 0;;) {
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    if (done) return total;
    if (give_up && std::chrono::steady_clock::now() - start > stray_limit) {
      std::cerr << "[rank " << harness_rank << "] failed in \"" << where
                << "\" and the other ranks did not reach its end: stopping all\n"
                << std::flush;
      std::this_thread::sleep_for(std::chrono::milliseconds(300));  // lets the launcher print the
                                                                    // text
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
    sched_yield();
  }
}

#if SHARDTYPE_TEST_CATCH3
using ListenerBase = Catch::EventListenerBase;
using AssertionEndedResult = void;
#else
using ListenerBase = Catch::TestEventListenerBase;
using AssertionEndedResult = bool;
#endif

class RankListener : public ListenerBase {
 public:
  using ListenerBase::ListenerBase;

  void testCaseStarting(Catch::TestCaseInfo const& info) override {
    case_ = info.name;
    failures_at_start_ = harness_failures;
    ++harness_cases;
  }

  AssertionEndedResult assertionEnded(Catch::AssertionStats const& stats) override {
    auto const& result = stats.assertionResult;
    if (!result.isOk()) {
      ++harness_failures;
      if (harness_rank != 0) report(stats);
    }
    return AssertionEndedResult(true);
  }

  void testCaseEnded(Catch::TestCaseStats const&) override {
    sum_over_ranks(0, harness_failures != failures_at_start_, case_);
  }

 private:
  void report(Catch::AssertionStats const& stats) const {
    auto const& result = stats.assertionResult;
    auto const where = result.getSourceInfo();
    std::ostringstream text;
    text << "[rank " << harness_rank << "] " << where.file << ':' << where.line << ": FAILED in \""
         << case_ << "\"";
    if (result.hasExpression()) text << "\n  " << result.getExpressionInMacro();
    if (result.hasExpandedExpression()) text << "\n  with " << result.getExpandedExpression();
    if (!std::string(result.getMessage()).empty()) text << "\n  " << result.getMessage();
    for (auto const& info : stats.infoMessages)
      if (info.type == Catch::ResultWas::Info) text << "\n  " << info.message;
    text << '\n';
    std::cerr << text.str() << std::flush;
  }

  std::string case_;
  long failures_at_start_ = 0;
};

class NullBuffer : public std::streambuf {
 protected:
  int overflow(int c) override { return c == traits_type::eof() ? 0 : c; }
  std::streamsize xsputn(char const*, std::streamsize n) override { return n; }
};

int run_session(int argc, char** argv) {
  NullBuffer nothing;
  std::streambuf* const screen = std::cout.rdbuf();
  if (harness_rank != 0) std::cout.rdbuf(&nothing);
  int result = 0;
  {
    Catch::Session session;
    session.configData().rngSeed = 1;
    result = session.applyCommandLine(argc, argv);
    if (result == 0) {
      auto const& asked = session.configData();
      bool const lists = asked.listTests || asked.listTags || asked.listReporters || asked.showHelp;
      result = session.run();
      if (result == 0 && !lists && harness_cases == 0) {
        if (harness_rank == 0) std::cerr << "no test case matched\n";
        result = 2;
      }
    }
  }
  std::cout.rdbuf(screen);
  return result;
}

}  // namespace

CATCH_REGISTER_LISTENER(RankListener)

int main(int argc, char** argv) {
  shardtype::Environment env(argc, argv);
  MPI_Comm_dup(env.world(), &harness_comm);
  MPI_Comm_rank(harness_comm, &harness_rank);
  int const mine = run_session(argc, argv);
  long const everyone = sum_over_ranks(mine != 0 ? 1 : 0, mine != 0, "the whole run");
  if (harness_rank == 0 && mine == 0 && everyone != 0)
    std::cerr << everyone << " other ranks failed\n";
  MPI_Comm_free(&harness_comm);
  return everyone == 0 ? 0 : 1;
}
