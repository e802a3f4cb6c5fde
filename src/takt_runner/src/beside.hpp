// SPDX-License-Identifier: Apache-2.0
//
// The threads that are described beside the executor of a process (application::Thread). A driver
// is started here, with the core and the real-time priority that the description gives it. It
// publishes in its process, so what it hands to the callbacks there passes no other process. Those
// that receive are the middleware's, of which Takt does not know which receives what: how long all
// of them compute is kept in the trace.
#pragma once

#include <cstddef>
#include <deque>
#include <filesystem>
#include <takt/os/stop.hpp>
#include <takt/os/thread.hpp>
#include <takt/rcl/context.hpp>
#include <takt/trace/recorder.hpp>
#include <takt/trace/tracer.hpp>

#include "members.hpp"
#include "settings.hpp"

namespace takt::runner {

// A robot whose drivers are processes of their own behind the others, as with_drivers() makes it,
// with names that nodes may have.
application::Application executed_form(const application::Application& robot);

class ThreadsBeside {
 public:
  // Those of a process of an executed_form(); `part`: the file of their trace, which is not made
  // where there are none. Throws RclError, std::system_error.
  ThreadsBeside(const Execution& execution, Common& common, const Context& context,
                std::size_t process, const std::filesystem::path& part, Delivery delivery);

  // Whether a process has any.
  static bool has_any(const application::Application& robot, std::size_t process);

  // As Members::wait_for_readers().
  void wait_for_readers(const os::StopFlag& stop) const;

  // The releases of drivers begin at `start`, and end with the execution or when a stop is
  // requested.
  void start(os::TimePoint start, const os::StopFlag& stop);

  // Waits for the last jobs of drivers, and closes the trace. Throws std::runtime_error for what
  // could not be written.
  void end();

 private:
  void drive(Member& member, std::uint32_t task, os::TimePoint start, const os::StopFlag& stop,
             trace::Recorder recorder) const noexcept;

  const Execution& execution_;
  const application::Process& process_;
  std::vector<const application::Process*> described_;  // by driver
  Members members_;
  std::unique_ptr<trace::Tracer> tracer_;  // null: there are none
  nanoseconds received_for_{0};            // by threads of the middleware, until the start
  std::deque<os::Thread> threads_;         // last: they use all of the above
};

}  // namespace takt::runner
