// SPDX-License-Identifier: Apache-2.0
//
// ROS 2 through takt_rcl, the timer of rcl, and that of Takt's executor. The transports shm, udp
// and tcp are chosen by the environment (for Fast DDS by its profiles); the probe runs over
// whatever is set up and only says what was asked for.
#include <memory>
#include <optional>
#include <string>
#include <takt/rcl/context.hpp>
#include <takt/rcl/error.hpp>
#include <tuple>

#include "executor_timer.hpp"
#include "loan_link.hpp"
#include "pointer_link.hpp"
#include "pool_memory.hpp"
#include "rcl_link.hpp"
#include "rcl_timer.hpp"
#include "rcl_versions.hpp"
#include "sent_addresses.hpp"
#include "takt/probe/failure.hpp"
#include "takt/probe/link.hpp"

namespace {

using namespace takt::probe;
namespace os = takt::os;

// Many times what rcl takes of it: a node and its ends, less than 1 MB.
constexpr std::size_t pool_bytes = std::size_t{16} << 20;
constexpr std::size_t messages_in_pool = 8;  // two for each end

class Rcl : public Stack {
 public:
  std::string_view name() const override { return "rcl"; }

  std::vector<Capability> capabilities() const override {
    const bool dds = speaks_rtps();
    std::vector<Capability> all;
    for (const auto& [kind, passive, active] :
         {std::tuple{Kind::pingpong, Role::pong, Role::ping},
          std::tuple{Kind::pubsub, Role::subscriber, Role::publisher}}) {
      if (dds) {
        all.push_back({.kind = kind, .transport = "shm", .roles = {passive, active}});
        all.push_back({.kind = kind, .transport = "udp", .roles = {passive, active}, .wire = rtps});
      } else {
        all.push_back(
            {.kind = kind, .transport = "tcp", .roles = {passive, active}, .wire = "rmw_zenoh"});
      }
      all.push_back({.kind = kind, .transport = "process", .roles = {Role::both}});
    }
    for (Capability& one : all) {
      one.durabilities = all_durabilities;
      one.histories = all_histories;
      one.contents = all_contents;
      one.allocators = {Allocator::heap, Allocator::tlsf};
    }
    if (const auto sizes = loan_sizes(); !sizes.empty()) {
      all.push_back({.kind = Kind::pubsub,
                     .transport = "loan",
                     .roles = {Role::both},
                     .fixed_payload_bytes = sizes,
                     .durabilities = all_durabilities,
                     .histories = all_histories});
    }
    for (Capability& one : all) {
      one.dds = dds;
    }
    // By pointer the queue is of KEEP_LAST, and keeps nothing for those who come late.
    for (const char* pointer : pointers) {
      all.push_back({.kind = Kind::pubsub,
                     .transport = pointer,
                     .roles = {Role::both},
                     .contents = all_contents});
    }
    all.push_back(timer(Kind::timer_oneshot, "rcl_timer", {Wait::idle, Wait::busy}, true));
    all.push_back(timer(Kind::timer_cyclic, "rcl_timer", {Wait::idle}, true));
    all.push_back(timer(Kind::timer_cyclic, "executor", {Wait::idle}, false));
    all.back().excluded = {{{{"policy", "rr"}}, "the threads of Takt's executor run at fifo"}};
    return all;
  }

  std::unique_ptr<Timer> open_timer(const Options& options, os::StopFlag& stop) override {
    if (options.transport == "executor") {
      return std::make_unique<ExecutorTimer>(options, stop);
    }
    return std::make_unique<RclTimer>(options, stop);
  }

  std::unique_ptr<Link> open(const Options& options, Role role, os::StopFlag& stop) override {
    try {
      if (options.allocator == Allocator::tlsf) {
        start_pool(pool_bytes + messages_in_pool * options.payload_bytes);
      }
      if (!context_) {
        // Transport `process` is the way through the middleware, not the pointer's.
        context_.emplace(takt::ContextOptions{.use_intra_process = by_pointer(options)});
      }
      if (options.transport == "loan") {
        return open_loan_link(*context_, options, role, stop, addresses_);
      }
      return options.content == Content::string ? open_link<StringBody>(options, role, stop)
                                                : open_link<BytesBody>(options, role, stop);
    } catch (const takt::RclError& error) {
      throw failure_of(error,
                       "check --topic and the ROS environment (RMW_IMPLEMENTATION, profiles)");
    }
  }

  void close() override { context_.reset(); }

  const TlsfPool* pool() const noexcept override { return takt::probe::pool(); }

  std::map<std::string, std::string> versions() const override { return rcl_versions(); }

 private:
  template <class Body>
  std::unique_ptr<Link> open_link(const Options& options, Role role, os::StopFlag& stop) {
    if (by_pointer(options)) {
      return std::make_unique<PointerLink<Body>>(*context_, options, role, stop, addresses_);
    }
    return std::make_unique<RclLink<Body>>(*context_, options, role, stop);
  }

  static Capability timer(Kind kind, std::string transport, std::vector<Wait> waits, bool reports) {
    return {.kind = kind,
            .transport = std::move(transport),
            .roles = {Role::both},
            .max_payload_bytes = 0,
            .waits = std::move(waits),
            .reports = reports};
  }

  std::optional<takt::Context> context_;
  SentAddresses addresses_;
};

}  // namespace

int main(int argc, char** argv) {
  Rcl rcl;
  return run(argc, argv, rcl);
}
