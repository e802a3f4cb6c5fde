// SPDX-License-Identifier: Apache-2.0
//
// The vertices of a schedule graph with the same number of started jobs.
#pragma once

#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <unordered_map>
#include <utility>
#include <vector>

#include "next_start.hpp"

namespace takt::analysis {

inline constexpr std::uint32_t no_vertex = std::numeric_limits<std::uint32_t>::max();

// The core becomes free at any time of [earliest, latest]. How many jobs of each task have started
// is stored separately.
struct Vertex {
  TimePoint earliest = {};
  TimePoint latest = {};
  TimePoint quiet = {};  // no job can start before: the next release
  TimePoint since = {};  // the overhead of releases noticed until then is accounted for
  std::uint32_t id = 0;
};

// Vertices with the same number of jobs, and started[i] jobs of each task.
class Level {
 public:
  explicit Level(std::size_t tasks) : tasks_(tasks) {}

  [[nodiscard]] std::span<const Vertex> vertices() const noexcept { return vertices_; }
  [[nodiscard]] std::span<const std::int64_t> started(std::size_t vertex) const noexcept {
    return std::span{started_}.subspan(vertex * tasks_, tasks_);
  }

  void clear() noexcept {
    vertices_.clear();
    started_.clear();
    chains_.clear();
    first_.clear();
  }

  // Adds the vertex, or merges it. Returns the id of the vertex that it became part of; nothing if
  // it remains separate.
  std::optional<std::uint32_t> merge(const Vertex& vertex, std::span<const std::int64_t> started) {
    constexpr nanoseconds step{1};
    for (std::uint32_t i = chain(started); i != no_vertex; i = chains_[i]) {
      Vertex& other = vertices_[i];
      if (std::ranges::equal(started, this->started(i)) && vertex.earliest <= other.latest + step &&
          other.earliest <= vertex.latest + step) {
        other.earliest = std::min(other.earliest, vertex.earliest);
        other.latest = std::max(other.latest, vertex.latest);
        other.since = std::min(other.since, vertex.since);
        return other.id;
      }
    }
    add(vertex, started);
    return {};
  }

  [[nodiscard]] bool covers(const Vertex& vertex, std::span<const std::int64_t> started) const {
    for (std::uint32_t i = chain(started); i != no_vertex; i = chains_[i]) {
      const Vertex& other = vertices_[i];
      if (other.earliest <= vertex.earliest && vertex.latest <= other.latest &&
          other.since <= vertex.since && std::ranges::equal(started, this->started(i))) {
        return true;
      }
    }
    return false;
  }

  void add(const Vertex& vertex, std::span<const std::int64_t> started) {
    const auto index = static_cast<std::uint32_t>(vertices_.size());
    vertices_.push_back(vertex);
    started_.insert(started_.end(), started.begin(), started.end());
    const auto [place, fresh] = first_.try_emplace(hash(started), index);
    chains_.push_back(fresh ? no_vertex : std::exchange(place->second, index));
  }

 private:
  static std::uint64_t hash(std::span<const std::int64_t> started) noexcept {
    std::uint64_t value = 0;
    for (const std::int64_t count : started) {
      value = (value ^ static_cast<std::uint64_t>(count)) * 0x9E3779B97F4A7C15U;
      value ^= value >> 29U;
    }
    return value;
  }
  [[nodiscard]] std::uint32_t chain(std::span<const std::int64_t> started) const {
    const auto found = first_.find(hash(started));
    return found == first_.end() ? no_vertex : found->second;
  }

  std::size_t tasks_;
  std::vector<Vertex> vertices_;
  std::vector<std::int64_t> started_;
  std::vector<std::uint32_t> chains_;  // the next vertex of the same hash
  std::unordered_map<std::uint64_t, std::uint32_t> first_;
};

}  // namespace takt::analysis
