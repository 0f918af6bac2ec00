// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef FILIGREE_PERF_SUPPORT_PROGRESS_HPP
#define FILIGREE_PERF_SUPPORT_PROGRESS_HPP

#include <chrono>
#include <condition_variable>
#include <iostream>
#include <mutex>
#include <string>
#include <thread>

namespace FiligreePerf {

/// Says on stderr what the program is at, as soon as the step has taken two seconds; quick steps stay silent.
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
  // Last, since it uses the members above from its first moment.
  std::thread m_thread;
};

}  // namespace FiligreePerf

#endif
