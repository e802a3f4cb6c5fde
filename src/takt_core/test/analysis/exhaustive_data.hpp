// SPDX-License-Identifier: Apache-2.0
//
// Data on its way from callback to callback: what a job takes when it starts, what it publishes
// publishes, and how old all that is.
#pragma once

#include <vector>

#include "analysis/exhaustive_situation.hpp"

namespace takt::analysis {

class Data {
 public:
  Data(const Tasks& tasks, Reached& reached);

  // A tick passes.
  void grow_older(Situation& now) const;
  // The job of the task starts; how many messages it is given.
  std::int64_t take(Situation& now, std::size_t task);
  // It has something to say. False: that is stored in its join, and not published yet.
  bool publish(Situation& now, std::size_t task);
  // It ends, and had something to say.
  void end(Situation& now, std::size_t task);

 private:
  struct Place {
    std::size_t task = 0;
    const Input* input = nullptr;
    std::size_t number = 0;  // among those that it reads
    bool releases = false;
  };

  void add(std::size_t task, const Input& input, std::size_t number, bool releases);
  std::int64_t read(Situation& now, std::size_t queue);
  std::int64_t read_trigger(Situation& now, std::size_t queue);
  void use(std::size_t queue, std::uint8_t age);
  void publish(Situation& now, std::size_t task, std::uint8_t sampled);
  void end_chain(Situation& now);
  std::int64_t known(std::uint8_t age);
  [[nodiscard]] bool is_link(std::size_t from, std::size_t to) const;
  [[nodiscard]] bool is_with(std::size_t task, std::size_t other) const;
  [[nodiscard]] std::uint8_t origin_for(const Situation& now, std::size_t writer,
                                        std::size_t reader) const;

  const Tasks& tasks_;
  Reached& reached_;
  std::vector<Place> places_;  // by queue
  bool has_data_ = false;      // of an age
};

}  // namespace takt::analysis
