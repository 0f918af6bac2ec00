// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

namespace FiligreePerf {

/// Prints the name of a step on stderr if the step takes longer than two seconds.
class Progress {
 public:
  explicit Progress(std::string step)
      : m_thread([this, step = std::move(step)]() {
          std::unique_lock<std::mutex> lock(m_mutex);
          if (!m_done.wait_for(lock, std::chrono::seconds(2), [this]() { return m_is_done; }))
            std::cerr << step << " ..." << std::endl;
        }) {}
  ~Progress() {
    {
      std::lock_guard<std::mutex> lock(m_mutex);
      m_is_done = true;
    }
    m_done.notify_all();
    m_thread.join();
  }

 private:
  std::mutex m_mutex;
  std::condition_variable m_done;
  bool m_is_done = false;
  // The thread must be the last member, because it uses the others as soon as it starts.
  std::thread m_thread;
};

}  // namespace FiligreePerf
