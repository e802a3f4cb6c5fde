// SPDX-License-Identifier: Apache-2.0
//
// rclcpp#3213: more arrives than can be worked on, and what the executor remembers of it. Memory is
// what this program asks the heap for, counted.
#include <malloc.h>

#include <cstdlib>
#include <iostream>
#include <new>
#include <std_msgs/msg/int32.hpp>

#include "support.hpp"
#include "takt/rclcpp/any_executor.hpp"

namespace {

std::atomic<std::int64_t> bytes_in_use{0};

void* count_in(void* memory) {
  if (memory == nullptr) {
    throw std::bad_alloc{};
  }
  bytes_in_use += static_cast<std::int64_t>(malloc_usable_size(memory));
  return memory;
}

void count_out(void* memory) noexcept {
  bytes_in_use -= static_cast<std::int64_t>(malloc_usable_size(memory));
  std::free(memory);  // NOLINT(cppcoreguidelines-no-malloc)
}

}  // namespace

// NOLINTBEGIN(cppcoreguidelines-no-malloc)
void* operator new(std::size_t size) {
  return count_in(std::malloc(size));
}
void* operator new(std::size_t size, std::align_val_t alignment) {
  const auto step = static_cast<std::size_t>(alignment);
  return count_in(std::aligned_alloc(step, (size + step - 1) / step * step));
}
// NOLINTEND(cppcoreguidelines-no-malloc)
void operator delete(void* memory) noexcept {
  count_out(memory);
}
void operator delete(void* memory, std::size_t /*size*/) noexcept {
  count_out(memory);
}
void operator delete(void* memory, std::align_val_t /*alignment*/) noexcept {
  count_out(memory);
}
void operator delete(void* memory, std::size_t /*size*/, std::align_val_t /*alignment*/) noexcept {
  count_out(memory);
}

namespace takt::test {
namespace {

using std_msgs::msg::Int32;

class Overload : public WithContext, public testing::WithParamInterface<std::string> {};

INSTANTIATE_TEST_SUITE_P(Executors, Overload, testing::ValuesIn(takt_rclcpp::executor_names()),
                         [](const testing::TestParamInfo<std::string>& of) { return of.param; });

// A subscription that keeps ten messages is sent 10^5 while its callback is busy.
TEST_P(Overload, whatIsRememberedOfMessagesThatAreGoneHasALimit) {
  constexpr int many = 100'000;
  constexpr int kept = 10;
  const auto node = std::make_shared<rclcpp::Node>("flooded");
  const auto out = node->create_publisher<Int32>(unique("flood"), kept);
  std::atomic<bool> busy{false};
  std::atomic<bool> free{false};
  std::atomic<int> heard{0};
  std::atomic<int> last{0};
  const auto in =
      node->create_subscription<Int32>(unique("flood"), kept, [&](const Int32& message) {
        busy = true;
        while (!free) {
          os::sleep_until(os::now() + 1ms);
        }
        ++heard;
        last = message.data;
      });
  ASSERT_TRUE(eventually([&] { return out->get_subscription_count() == 1; }));
  const auto executor = takt_rclcpp::make_executor(GetParam(), quiet());
  executor->add_node(node);
  std::thread spins{[&] { executor->spin(); }};
  int sent = 0;
  const auto send = [&](int count) {
    for (int i = 0; i < count; ++i) {
      out->publish(Int32{}.set__data(++sent));
    }
  };
  send(1);
  EXPECT_TRUE(eventually([&] { return busy.load(); }));
  send(100 * kept);  // the middleware's own memory is as large as it gets
  const std::int64_t before = bytes_in_use;
  send(many);
  const std::int64_t grown = bytes_in_use - before;
  free = true;
  EXPECT_TRUE(eventually([&] { return last == sent; })) << last << " of " << sent;
  executor->cancel();
  spins.join();
  std::cout << GetParam() << ": " << many << " messages, " << heard << " heard, memory grew by "
            << grown << " bytes\n";
  EXPECT_LE(heard, kept + 1);
  if (GetParam() == "takt") {
    EXPECT_LT(grown, 64 * 1024);
  } else if (GetParam() == "events" || GetParam() == "events_cbg") {
    EXPECT_GT(grown, many * 8);  // at least a word for each message that is gone
  }
}

}  // namespace
}  // namespace takt::test
