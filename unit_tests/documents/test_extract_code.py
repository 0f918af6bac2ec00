#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Tests extract_code.py with small documents, whose programs are compiled without Kokkos:
#
#     test_extract_code.py COMPILER
import pathlib
import subprocess
import sys
import tempfile
import unittest

COMPILER = "c++"
HERE = pathlib.Path(__file__).resolve().parent

TEMPLATE = r"""
#include <exception>
#include <iostream>
@INCLUDES@
const char* filigree_document = "";
// begin of a document
namespace @NAMESPACE@ {
@OUTSIDE@
void run() {
  int given = 7;
  (void)given;
@BLOCKS@
}
}
// end of a document
int main() {
  try {
@CALLS@
  } catch (const std::exception& error) {
    std::cout << filigree_document << ": " << error.what() << '\n';
    return 1;
  }
}
"""


class ExtractCode(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "template").write_text(TEMPLATE)

    def extract(self, text, *more):
        """Runs extract_code.py for docs/page.md and docs/page1.md, ... Returns the names of the programs and the errors."""
        (self.folder / "docs").mkdir(exist_ok=True)
        documents = ["docs/page.md"] + [f"docs/page{number}.md" for number in range(1, len(more) + 1)]
        for document, content in zip(documents, (text,) + more):
            (self.folder / document).write_text(content)
        done = subprocess.run([sys.executable, HERE / "extract_code.py", f"--root={self.folder}", f"--template={self.folder}/template",
                               f"--out={self.folder}/out", "--name=pages", *documents], capture_output=True, text=True)
        self.assertEqual(done.returncode, 1 if done.stderr else 0)
        return [line.split("|")[0] for line in done.stdout.splitlines()], done.stderr

    def compile(self, name):
        """Compiles a program. Returns the errors of the compiler, if it fails."""
        done = subprocess.run([COMPILER, "-std=c++17", "-o", self.folder / name, self.folder / f"out/{name}.cpp"],
                              capture_output=True, text=True)
        return done.stderr if done.returncode else ""

    def run_program(self, name):
        self.assertEqual(self.compile(name), "")
        done = subprocess.run([self.folder / name], capture_output=True, text=True)
        return done.returncode, done.stdout

    def expect_error(self, text, *expected):
        names, errors = self.extract(text)
        self.assertEqual(names, [])
        for part in expected:
            self.assertIn(part, errors)

    def test_blocks_build_on_each_other_and_may_declare_names_again(self):
        names, errors = self.extract("""Text
```cpp
#include <string>
std::string word = "one";
int count = given;
```
```sh
this is no C++
```
1. An item

   ```cpp
   int word = count + 1;
   std::cout << word;
   ```
""")
        self.assertEqual((names, errors), (["pages"], ""))
        self.assertEqual(self.run_program("pages"), (0, "8"))

    def test_hidden_code_and_instructions(self):
        names, errors = self.extract("""
<!-- cpp: outside main
template <class T> T twice(T value) { return 2 * value; }
-->
<!-- cpp
int hidden = 4;
-->
<!-- An ordinary comment -->
<!-- cpp: outside main -->
```cpp
template <class T> T four_times(T value) { return twice(twice(value)); }
```
<!-- cpp: not compiled, it shows a mistake -->
```cpp
this is a mistake;
```
```cpp
std::cout << four_times(hidden);
```
""")
        self.assertEqual((names, errors), (["pages"], ""))
        self.assertEqual(self.run_program("pages"), (0, "16"))

    def test_a_block_with_main_is_a_program(self):
        names, errors = self.extract("""```cpp
int value = 1;
```
```cpp
#include <iostream>
int main() { std::cout << "alone"; }
```
""")
        self.assertEqual((names, errors), (["docs_page_line_5", "pages"], ""))
        self.assertEqual(self.run_program("docs_page_line_5"), (0, "alone"))
        self.assertEqual(self.run_program("pages"), (0, ""))

    def test_documents_do_not_share_names(self):
        names, errors = self.extract("""<!-- cpp: outside main -->
```cpp
int value() { return 1; }
```
```cpp
int a = value();
std::cout << a << given;
```
""", """<!-- cpp: outside main -->
```cpp
int value() { return 2; }
```
```cpp
long a = value();
std::cout << a;
```
""", "no code")
        self.assertEqual((names, errors), (["pages"], ""))
        self.assertEqual(self.run_program("pages"), (0, "172"))
        self.extract("```cpp\nint a = 1;\n```\n", "```cpp\nint b = a;\n```\n")
        self.assertRegex(self.compile("pages"), r"docs/page1\.md[:(]2")

    def test_a_document_without_code_has_no_program(self):
        self.assertEqual(self.extract("Text\n```sh\nls\n```\n"), ([], ""))

    def test_a_fence_in_a_longer_fence_is_text(self):
        self.assertEqual(self.extract("````markdown\n```cpp\nmistake\n```\n````\n"), ([], ""))

    def test_the_compiler_names_document_and_line(self):
        self.extract("Text\n```cpp\nint a = 1;\nint b = missing;\n```\n")
        self.assertRegex(self.compile("pages"), r"docs/page\.md[:(]4")
        self.extract("Text\n```cpp\nint a = 1;\n\n#include <no_such_header>\n```\n")
        self.assertRegex(self.compile("pages"), r"docs/page\.md[:(]5")
        self.extract("```cpp\nint main() {\n  return missing;\n}\n```\n")
        self.assertRegex(self.compile("docs_page_line_2"), r"docs/page\.md[:(]3")

    def test_the_program_names_document_and_line(self):
        self.extract("```cpp\nint a = 1;\n```\n\n```cpp\n#include <stdexcept>\nthrow std::runtime_error(\"reason\");\n```\n")
        self.assertEqual(self.run_program("pages"), (1, "docs/page.md:6: reason\n"))

    def test_an_unchanged_program_is_not_written_again(self):
        self.extract("```cpp\nint a = 1;\n```\n")
        file = self.folder / "out/pages.cpp"
        before = file.stat().st_mtime_ns
        self.extract("```cpp\nint a = 1;\n```\nMore text\n")
        self.assertEqual(file.stat().st_mtime_ns, before)
        self.extract("```cpp\nint a = 2;\n```\n")
        self.assertIn("int a = 2;", file.read_text())

    def test_mistakes_of_documents(self):
        self.expect_error("Text\n```cpp\nint a;\n", "docs/page.md:2:", "no closing")
        self.expect_error("```c++\nint a;\n```\n", "docs/page.md:1:", 'write "cpp"')
        self.expect_error("```C++\nint a;\n```\n", "docs/page.md:1:", 'write "cpp"')
        self.expect_error("```CPP\nint a;\n```\n", "docs/page.md:1:", 'write "cpp"')
        self.expect_error("<!-- cpp: outsidemain -->\n```cpp\n```\n", "docs/page.md:1:", "is no instruction")
        self.expect_error("<!-- cpp: not compiled -->\n```cpp\n```\n", "docs/page.md:1:", "REASON")
        self.expect_error("<!-- cpp -->\n```cpp\n```\n", "docs/page.md:1:", "has no code")
        self.expect_error("\n<!-- cpp: outside main -->\nText\n", "docs/page.md:2:", "no ```cpp block follows")
        self.expect_error("<!-- cpp: outside main -->\n```sh\n```\n", "docs/page.md:1:", "another block")
        self.expect_error("<!-- cpp: outside main -->\n<!-- cpp: outside main -->\n", "docs/page.md:1:", "another one")
        self.expect_error("<!-- cpp\nint a;\n", "docs/page.md:1:", 'no "-->"')
        self.expect_error("<!-- cpp\nint a; -->\n", "docs/page.md:2:", "a line of its own")


if __name__ == "__main__":
    COMPILER = sys.argv.pop(1)
    unittest.main()
