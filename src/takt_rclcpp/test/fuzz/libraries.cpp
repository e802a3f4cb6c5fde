// SPDX-License-Identifier: Apache-2.0
//
// A library whose node runs is unloaded as soon as the executor says that nothing of it runs any
// more, and loaded again: what is still called or destroyed of it afterwards crashes.
#include <dlfcn.h>

#include "fuzz.hpp"
#include "guest_library.hpp"

namespace takt::fuzz {
namespace {

class Library {
 public:
  Library() : handle_{dlopen(GUEST_LIBRARY, RTLD_NOW | RTLD_LOCAL)} {
    check(handle_ != nullptr, handle_ == nullptr ? dlerror() : "");
  }
  ~Library() {
    dlclose(handle_);
    if (void* const still = dlopen(GUEST_LIBRARY, RTLD_NOW | RTLD_NOLOAD); still != nullptr) {
      fail("the library is not unloaded: its end is not looked at");
    }
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;
  Library(Library&&) = delete;
  Library& operator=(Library&&) = delete;

  template <class Function>
  [[nodiscard]] Function* find(const char* name) const {
    void* const found = dlsym(handle_, name);
    check(found != nullptr, name);
    return reinterpret_cast<Function*>(found);
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace

void libraries(Random& random) {
  const auto context = make_context();
  Host host{draw_options(random), context};
  // Here, not in a library, is made what all nodes of a context share.
  const auto resident = std::make_shared<rclcpp::Node>(
      "resident", rclcpp::NodeOptions{}.context(context).use_intra_process_comms(true));
  const auto calls = std::make_shared<std::atomic<int>>(0);
  const auto timer = resident->create_wall_timer(1ms, [calls] { ++*calls; });
  host.executor.add_node(resident);
  for (int turn = 0; turn < 8; ++turn) {
    const Library library;
    const auto options = rclcpp::NodeOptions{}
                             .context(context)
                             .use_intra_process_comms(one_in(random, 2))
                             .start_parameter_services(one_in(random, 2));
    const std::string name = "guest" + std::to_string(turn);
    std::shared_ptr<rclcpp::Node> guest{
        library.find<decltype(make_guest)>("make_guest")(&options, name.c_str()),
        library.find<decltype(delete_guest)>("delete_guest")};
    check(guest != nullptr, "a node of a library cannot be made");
    host.executor.add_node(guest);
    const int before = *calls;
    const int wanted = before + static_cast<int>(below(random, 20));
    expect_eventually("a timer is not called", [&] { return *calls >= wanted; });
    if (one_in(random, 4)) {
      host.executor.cancel();
    }
    host.executor.remove_node(guest);
    host.expect_gone();
    guest.reset();
  }
}

}  // namespace takt::fuzz
