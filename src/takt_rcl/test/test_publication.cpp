// SPDX-License-Identifier: Apache-2.0
//
// Which publishers published while a callback ran.
#include <gtest/gtest.h>

#include <cstdint>
#include <memory>
#include <string>
#include <takt/rcl/publication_scope.hpp>
#include <takt_interfaces/msg/sample_fixed64_b.hpp>
#include <thread>
#include <vector>

#include "support.hpp"

namespace takt::test {
namespace {

using Small = takt_interfaces::msg::SampleFixed64B;
using detail::PublicationScope;

// By pointer alone where there is a reader, else through the middleware.
class Publication : public testing::TestWithParam<bool> {
 protected:
  std::shared_ptr<Publisher<Small>> publisher(int number) {
    return node_.create_publisher<Small>(topic_ + std::to_string(number), QoS{1});
  }

  std::string topic_{unique_topic("publication")};
  Context context_{ContextOptions{.use_intra_process = GetParam()}};
  Node node_{context_, "publication"};
  std::shared_ptr<Publisher<Small>> first_{publisher(1)};
  std::shared_ptr<Publisher<Small>> second_{publisher(2)};
  std::shared_ptr<Publisher<Small>> unlisted_{publisher(3)};
  std::vector<std::shared_ptr<PublisherBase>> writes_{first_, second_};
  std::shared_ptr<Subscription<Small>> in_{node_.create_subscription<Small>(topic_ + "2", QoS{1})};
};

TEST_P(Publication, of_every_form_is_counted_for_its_publisher) {
  const PublicationScope nothing{writes_};
  EXPECT_EQ(nothing.published(), 0U);
  const auto published_by = [&](auto publish) {
    const PublicationScope scope{writes_};
    EXPECT_TRUE(publish());
    return scope.published();
  };
  EXPECT_EQ(published_by([&] { return first_->publish(Small{}); }), 0b01U);
  EXPECT_EQ(published_by([&] { return second_->publish(Small{}); }), 0b10U);
  EXPECT_EQ(published_by([&] { return second_->publish(std::make_unique<Small>()); }), 0b10U);
  EXPECT_EQ(published_by([&] { return second_->publish(second_->reuse_message()); }), 0b10U);
  if (second_->can_loan_messages()) {
    EXPECT_EQ(published_by([&] { return second_->publish(second_->borrow_loaned_message()); }),
              0b10U);
  }
  EXPECT_EQ(published_by([&] { return unlisted_->publish(Small{}); }), 0U);
  EXPECT_EQ(published_by([&] { return first_->publish(Small{}) && second_->publish(Small{}); }),
            0b11U);
  EXPECT_EQ(nothing.published(), 0U);  // inner scopes count alone
}

TEST_P(Publication, that_failed_is_not_counted) {
  const PublicationScope scope{writes_};
  EXPECT_FALSE(second_->publish(std::unique_ptr<Small>{}));
  EXPECT_FALSE(second_->publish(LoanedMessage<Small>{}));
  context_.shutdown();
  EXPECT_FALSE(second_->publish(Small{}));
  EXPECT_FALSE(second_->publish(std::make_unique<Small>()));
  EXPECT_EQ(scope.published(), 0U);
}

TEST_P(Publication, of_another_thread_or_outside_of_the_scope_is_not_counted) {
  EXPECT_TRUE(first_->publish(Small{}));
  const PublicationScope scope{writes_};
  std::thread{[&] { EXPECT_TRUE(second_->publish(Small{})); }}.join();
  EXPECT_EQ(scope.published(), 0U);
  EXPECT_TRUE(first_->publish(Small{}));
  EXPECT_EQ(scope.published(), 0b01U);
}

TEST_P(Publication, with_the_same_publisher_twice_and_with_very_many_is_counted) {
  writes_ = {first_, first_};
  {
    const PublicationScope scope{writes_};
    EXPECT_TRUE(first_->publish(Small{}));
    EXPECT_EQ(scope.published(), 0b11U);
  }
  writes_.assign(70, second_);
  writes_.back() = first_;
  const PublicationScope scope{writes_};
  EXPECT_TRUE(first_->publish(Small{}));
  EXPECT_EQ(scope.published(), std::uint64_t{1} << 63U);
}

INSTANTIATE_TEST_SUITE_P(Transport, Publication, testing::Bool(), [](const auto& transport) {
  return transport.param ? "by_pointer" : "through_the_middleware";
});

}  // namespace
}  // namespace takt::test
