// SPDX-License-Identifier: Apache-2.0
//
// What recording one sample costs: time, allocations, page faults. Prints one JSON object; `p99_ns`
// is taken over batches, because a clock reading costs more than a record.
#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <vector>

#include "allocation_count.hpp"
#include "takt/os/memory.hpp"
#include "takt/os/thread.hpp"
#include "takt/os/usage.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/sample_file.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;

/// A folder in memory that is gone afterwards.
class TemporaryFolder {
 public:
  TemporaryFolder() {
    const bool memory = std::filesystem::is_directory("/dev/shm");
    std::string pattern = memory ? "/dev/shm" : std::filesystem::temp_directory_path().string();
    pattern += "/takt_bench_XXXXXX";
    if (mkdtemp(pattern.data()) == nullptr) {
      throw Failure{{.what = "no temporary folder " + pattern,
                     .why = os::error_text(errno),
                     .fix = "make /dev/shm writable"}};
    }
    path_ = pattern;
    // For as long as this process lives: what is left of a killed one is told by it (takt clean).
    lock_ = open(path_.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (lock_ < 0 || flock(lock_, LOCK_EX | LOCK_NB) != 0) {
      const int error = errno;
      remove();
      throw Failure{{.what = "the temporary folder " + pattern + " cannot be locked",
                     .why = os::error_text(error),
                     .fix = "see whether its file system has flock"}};
    }
  }
  ~TemporaryFolder() { remove(); }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  const std::filesystem::path& path() const { return path_; }

 private:
  void remove() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
    if (lock_ >= 0) {
      close(lock_);
    }
  }

  std::filesystem::path path_;
  int lock_ = -1;
};

void measure(std::size_t batches, std::size_t per_batch) {
  const TemporaryFolder folder;
  SampleFile file{folder.path() / "record.taktsamples", batches * per_batch};
  std::vector<double> costs(batches);

  const auto allocations_before = allocation_count();
  const auto usage_before = os::resource_usage(os::UsageOf::thread);
  std::uint64_t sequence = 0;
  for (double& cost : costs) {
    const auto start = os::now();
    for (std::size_t k = 0; k < per_batch; ++k, ++sequence) {
      // Times that change, as in a measuring loop, but cost no reading of the clock.
      const auto time = start + std::chrono::nanoseconds{static_cast<std::int64_t>(sequence)};
      file.record(sequence, start, time, time);
    }
    cost = static_cast<double>((os::now() - start).count()) / static_cast<double>(per_batch);
  }
  const auto usage = os::resource_usage(os::UsageOf::thread) - usage_before;
  const auto allocated = allocation_count() - allocations_before;

  std::ranges::sort(costs);
  const auto quantile = [&](double q) {
    return costs[static_cast<std::size_t>(q * static_cast<double>(costs.size() - 1))];
  };
  const nlohmann::ordered_json document{
      {"records", file.count()},           {"batches", batches},
      {"min_ns", costs.front()},           {"median_ns", quantile(0.5)},
      {"p99_ns", quantile(0.99)},          {"max_ns", costs.back()},
      {"allocations", allocated},          {"minor_faults", usage.minor_faults},
      {"major_faults", usage.major_faults}};
  std::puts(document.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measure the cost of recording one sample; print JSON.", "bench_record"};
  app.footer("Example:\n  bench_record --cpu 1 --priority 80");
  os::ThreadSettings settings{.cpus = {}, .name = {}};
  std::size_t batches = 2000;
  std::size_t per_batch = 500;
  app.add_option("--cpu", settings.cpus, "CPU to pin to; default: not pinned")->expected(1);
  app.add_option("--priority", settings.priority, "SCHED_FIFO priority; 0: SCHED_OTHER")
      ->check(CLI::Range(0, os::max_priority))
      ->capture_default_str();
  app.add_option("--batches", batches, "Number of batches")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  app.add_option("--per-batch", per_batch, "Number of records between two clock readings")
      ->check(CLI::Range(1, 100'000))
      ->capture_default_str();
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : 2;
  }
  try {
    settings.policy =
        settings.priority > 0 ? os::SchedulingPolicy::fifo : os::SchedulingPolicy::other;
    os::SettingsNotGranted not_granted = os::apply(settings);
    std::ranges::move(os::lock_memory(os::Stacks::whole), std::back_inserter(not_granted));
    for (const os::NotGranted& one : not_granted) {
      std::fprintf(stderr, "bench_record: not granted: %s: %s; %s\n", one.what.c_str(),
                   one.why.c_str(), one.fix.c_str());
    }
    measure(batches, per_batch);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "bench_record: %s\n", error.what());
    return 1;
  }
}
