// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Files that another program changes while they are read. The reader passes over the text twice. A change
// between the passes must be an error, and must not crash the program or leave wrong memory accesses.
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <filigree/io/matrix_market.hpp>
#include <fstream>
#include <functional>
#include <sstream>
#include <thread>

namespace {

using Loaded = Filigree::Impl::MatrixMarketCrs<double, std::int32_t>;

constexpr int size = 3000;

/// A diagonal matrix with twos, in which the first `in_first_row` entries are in the first row. All files
/// with the same number of entries have the same length. The text is longer than a page of memory.
std::string matrix_text(int in_first_row, int entries = size) {
  std::string text = "%%MatrixMarket matrix coordinate real general\n" + std::to_string(size) + " " +
                     std::to_string(size) + " " + std::to_string(entries) + "\n";
  for (int i = 0; i < entries; ++i) {
    const std::string row = std::to_string(i < in_first_row ? 1 : i + 1);
    const std::string col = std::to_string(i + 1);
    text += std::string(col.size() - row.size(), ' ') + row + " " + col + " 2\n";
  }
  return text;
}

class ChangingFile : public testing::Test {
 protected:
  void SetUp() override {
    std::filesystem::create_directory(folder);
    write_old_file(matrix_text(1));
  }
  void TearDown() override {
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(nullptr);
    std::filesystem::remove_all(folder);
  }

  /// Writes the file and makes it an hour old. Its time of modification may have steps of some milliseconds.
  static void write_old_file(const std::string& text) {
    std::ofstream(path, std::ios::binary) << text;
    std::filesystem::last_write_time(path, std::filesystem::last_write_time(path) - std::chrono::hours(1));
  }

  /// Reads the file in two pieces, because a single piece launches no kernel. Calls change() before the
  /// kernel with this name.
  static Loaded load_and_change(const std::string& kernel, const std::function<void()>& change) {
    wanted_kernel = kernel;
    pending_change = change;
    Kokkos::Tools::Experimental::set_begin_parallel_for_callback(
        [](const char* name, const std::uint32_t, std::uint64_t*) {
          if (name == wanted_kernel && pending_change) std::exchange(pending_change, nullptr)();
        });
    return load();
  }

  static void expect_change_error(const std::string& kernel, const std::function<void()>& change) {
    try {
      load_and_change(kernel, change);
      ADD_FAILURE() << "no error";
    } catch (const Filigree::MatrixMarketError& error) {
      EXPECT_EQ(error.file(), path);
      EXPECT_EQ(error.line(), 0);
      EXPECT_NE(std::string(error.what()).find("changed while it was read"), std::string::npos)
          << error.what();
    }
    EXPECT_EQ(pending_change, nullptr) << "the change was not made";
  }

  static Loaded load() {
    const Filigree::Impl::MatrixMarketTarget target{INT32_MAX, INT64_MAX, 2};
    return Filigree::Impl::load_matrix_market<double, std::int32_t>(path, {}, target);
  }

  /// Overwrites the file from its beginning and leaves the rest as it is.
  static void overwrite(const std::string& text) {
    std::fstream(path, std::ios::binary | std::ios::in | std::ios::out) << text;
  }

  static void expect_diagonal(const Loaded& a) {
    ASSERT_EQ(a.entries.extent(0), static_cast<std::size_t>(size));
    for (int i = 0; i < size; ++i) {
      ASSERT_EQ(a.row_map(i), i);
      ASSERT_EQ(a.entries(i), i);
      ASSERT_EQ(a.values(i), 2);
    }
  }

  inline static const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("filigree_changing_" + std::to_string(::getpid()));
  inline static const std::string path = (folder / "a.mtx").string();
  inline static std::string wanted_kernel;
  inline static std::function<void()> pending_change;
};

}  // namespace

TEST_F(ChangingFile, IsAnError) {
  const std::string text = matrix_text(1);
  const std::string header = text.substr(0, text.find('\n', text.find('\n') + 1) + 1);
  const std::size_t rest = text.size() - header.size();
  const auto write_anew = [](const std::string& bytes) { std::ofstream(path, std::ios::binary) << bytes; };
  const std::vector<std::pair<std::string, std::function<void()>>> changes = {
      {"entries in other rows", [] { overwrite(matrix_text(size)); }},
      {"other columns", [&] { overwrite(text.substr(0, text.size() - 7) + "1    2\n"); }},
      {"fewer entries", [&] { overwrite(header + std::string(rest, '\n')); }},
      {"fewer entries and a shorter file", [&] { write_anew(matrix_text(1, size / 2)); }},
      {"more entries", [&] { std::ofstream(path, std::ios::binary | std::ios::app) << "1 1 1\n"; }},
      {"shorter lines, so that there are more entries",
       [&] {
         std::string lines;
         while (lines.size() + 6 <= rest)
           lines += "1 1 1\n";
         overwrite(header + lines);
       }},
      {"truncated within a line", [&] { std::filesystem::resize_file(path, 5000); }},
      {"emptied", [&] { write_anew(""); }},
      {"emptied and written with a larger matrix", [&] { write_anew(text + matrix_text(5)); }},
      {"another header", [] { overwrite("%%MatrixMarket matrix array complex hermitian     \n1 1"); }},
      {"gzip data", [&] { overwrite("\x1f\x8b" + std::string(text.size() - 2, '\3')); }},
      {"bytes without a line end", [&] { overwrite(std::string(text.size(), '7')); }},
      {"words without an end", [&] { overwrite(header + std::string(rest, 'd')); }},
  };
  for (const std::string kernel : {"Filigree::count[matrix_market]", "Filigree::read[matrix_market]"}) {
    for (const auto& [name, change] : changes) {
      write_old_file(text);
      SCOPED_TRACE(name + " before " + kernel);
      expect_change_error(kernel, change);
    }
  }
}

/// An error in the text that was read must not be reported if the file has another text now.
TEST_F(ChangingFile, IsReportedBeforeErrorsOfItsOldText) {
  const std::string good = matrix_text(1);
  write_old_file(good.substr(0, good.size() - 2) + "x\n");
  expect_change_error("Filigree::read[matrix_market]", [&] { overwrite(good); });
}

/// The reader keeps the file that it opened.
TEST_F(ChangingFile, MayBeReplacedOrRemoved) {
  expect_diagonal(load_and_change("Filigree::read[matrix_market]", [] {
    std::ofstream(folder / "new.mtx") << matrix_text(size);
    std::filesystem::rename(folder / "new.mtx", path);
  }));
  write_old_file(matrix_text(1));
  expect_diagonal(load_and_change("Filigree::read[matrix_market]", [] { std::filesystem::remove(path); }));
}

/// Whatever the reader returns while a thread changes the file all the time, it is a valid matrix.
TEST_F(ChangingFile, NeverGivesAnInvalidMatrix) {
  std::atomic<bool> stop{false};
  std::thread writer([&] {
    for (int i = 0; !stop; ++i)
      if (i % 8 == 7)
        std::ofstream(path, std::ios::binary) << matrix_text(i % 3 * 500);
      else
        overwrite(matrix_text(i % 5 * 700));
  });
  for (int run = 0; run < 200; ++run) {
    try {
      const Loaded a = load();
      ASSERT_EQ(a.row_map(size), static_cast<std::int64_t>(a.entries.extent(0)));
      for (int row = 0; row < size; ++row)
        for (std::int64_t k = a.row_map(row); k < a.row_map(row + 1); ++k) {
          ASSERT_TRUE(a.entries(k) >= 0 && a.entries(k) < size);
          ASSERT_TRUE(k == a.row_map(row) || a.entries(k) > a.entries(k - 1));
          ASSERT_EQ(a.values(k), 2);
        }
    } catch (const Filigree::MatrixMarketError&) {
    }
  }
  stop = true;
  writer.join();
}

TEST_F(ChangingFile, MayBeAPipe) {
  const std::string pipe = (folder / "pipe").string();
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  for (const bool complete : {true, false}) {
    std::thread writer([&] {
      const std::string text = matrix_text(1);
      std::ofstream(pipe, std::ios::binary) << text.substr(0, text.size() - (complete ? 0 : 100));
    });
    const auto load_pipe = [&] {
      return Filigree::Impl::load_matrix_market<double, std::int32_t>(pipe, {}, {INT32_MAX, INT64_MAX, 2});
    };
    if (complete)
      expect_diagonal(load_pipe());
    else
      EXPECT_THROW(load_pipe(), Filigree::MatrixMarketError);
    writer.join();
  }
}

namespace {

/// A stream buffer that gives other bytes after each seek to the beginning.
class ChangingBuffer : public std::streambuf {
 public:
  ChangingBuffer() { setg(m_text.data(), m_text.data(), m_text.data() + m_text.size()); }

 private:
  pos_type seekoff(off_type, std::ios::seekdir, std::ios::openmode) override { return seekpos(0, {}); }
  pos_type seekpos(pos_type, std::ios::openmode) override {
    m_text = matrix_text(size, size / 2);
    setg(m_text.data(), m_text.data(), m_text.data() + m_text.size());
    return 0;
  }
  std::string m_text = matrix_text(1);
};

}  // namespace

TEST_F(ChangingFile, MayBeAStreamThatCannotBeReadTwice) {
  ChangingBuffer buffer;
  std::istream stream(&buffer);
  expect_diagonal(Filigree::Impl::load_matrix_market<double, std::int32_t>(stream, "stream", {},
                                                                           {INT32_MAX, INT64_MAX, 2}));
}
