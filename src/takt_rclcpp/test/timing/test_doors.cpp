// SPDX-License-Identifier: Apache-2.0
//
// What hooks are given in place of pointers, while others open and close.
#include <gtest/gtest.h>

#include <atomic>
#include <memory>
#include <thread>
#include <vector>

#include "doors.hpp"

namespace takt::test {
namespace {

// Counts those that there are.
struct Room {
  explicit Room(std::atomic<int>& in_use) : rooms{in_use} { ++rooms; }
  ~Room() { --rooms; }
  Room(const Room&) = delete;
  Room& operator=(const Room&) = delete;
  Room(Room&&) = delete;
  Room& operator=(Room&&) = delete;

  std::atomic<int>& rooms;
  int number = 0;
};

TEST(Doors, WhatIsInsideGoesWhenItsDoorIsClosed) {
  std::atomic<int> rooms{0};
  takt_rclcpp::Doors<Room> doors;
  const auto key = doors.open(std::make_shared<Room>(rooms));
  int entered = 0;
  doors.enter(key, [&](Room&) { ++entered; });
  EXPECT_EQ(rooms, 1);
  doors.close(key);
  EXPECT_EQ(rooms, 0);
  doors.enter(key, [&](Room&) { ++entered; });
  EXPECT_EQ(entered, 1);
}

TEST(Doors, AKeyOpensNoLaterDoor) {
  std::atomic<int> rooms{0};
  takt_rclcpp::Doors<Room> doors;
  std::vector<takt_rclcpp::Doors<Room>::Key> former;
  int strangers = 0;
  for (int i = 0; i < 1000; ++i) {
    const auto key = doors.open(std::make_shared<Room>(rooms));
    for (const auto old : former) {
      doors.enter(old, [&](Room&) { ++strangers; });
    }
    doors.close(key);
    former.push_back(key);
  }
  EXPECT_EQ(strangers, 0);
  EXPECT_EQ(rooms, 0);
}

// Not by whoever closes, who waits for nobody: by the one who leaves last.
TEST(Doors, WhoIsInsideKeepsWhatIsThere) {
  std::atomic<int> rooms{0};
  takt_rclcpp::Doors<Room> doors;
  const auto key = doors.open(std::make_shared<Room>(rooms));
  doors.enter(key, [&](Room&) {
    doors.enter(key, [&](Room&) {
      doors.close(key);
      EXPECT_EQ(rooms, 1);
      doors.enter(key, [&](Room&) { ADD_FAILURE() << "it is closed"; });
    });
    EXPECT_EQ(rooms, 1);
  });
  EXPECT_EQ(rooms, 0);
}

// Whoever enters finds what the key is of, or nothing, whatever others open and close.
TEST(Doors, AreEnteredWhileTheyAreOpenedAndClosed) {
  constexpr int slots = 8;
  constexpr int rounds = 20'000;
  std::atomic<int> rooms{0};
  {
    takt_rclcpp::Doors<Room> doors;
    struct Slot {
      std::atomic<takt_rclcpp::Doors<Room>::Key> key{0};
      std::atomic<int> number{-1};  // of the room behind the key, written before it
    };
    std::vector<Slot> board(slots);
    std::atomic<bool> done{false};
    std::atomic<int> entered{0};
    std::atomic<int> wrong{0};
    std::vector<std::thread> guests;
    for (int i = 0; i < 3; ++i) {
      guests.emplace_back([&] {
        while (!done) {
          for (int number = 0; number < slots; ++number) {
            Slot& slot = board[static_cast<std::size_t>(number)];
            if (slot.number < 0) {
              continue;
            }
            doors.enter(slot.key, [&](Room& room) {
              ++entered;
              wrong += room.number % slots == number && room.rooms.load() > 0 ? 0 : 1;
            });
          }
        }
      });
    }
    for (int round = 0; round < rounds || entered == 0; ++round) {
      Slot& slot = board[static_cast<std::size_t>(round % slots)];
      if (slot.number >= 0) {
        doors.close(slot.key);
      }
      auto room = std::make_shared<Room>(rooms);
      room->number = round;
      slot.key = doors.open(std::move(room));
      slot.number = round;
    }
    done = true;
    for (std::thread& guest : guests) {
      guest.join();
    }
    EXPECT_EQ(wrong, 0);
    EXPECT_EQ(rooms, slots);
    for (Slot& slot : board) {
      doors.close(slot.key);
    }
    EXPECT_EQ(rooms, 0);
  }
}

}  // namespace
}  // namespace takt::test
