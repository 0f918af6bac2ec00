#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Runs an example and compares its output with the block under "Expected output" in its README.md:

    check_output.py README.md program [argument...]
    check_output.py --self-test

In the block

    <30 to 40>   stands for a number from 30 to 40
    <name>       stands for any text, for example a time
    ...          as a line of its own stands for any number of lines

Other numbers may differ by 2 percent if they have a decimal point or an exponent. All other text must be equal, except
for the amount of space. The exit code of the program must be 0.
"""
import re
import subprocess
import sys

NUMBER = r"[-+]?\d+(?:\.\d+)?(?:[eE][-+]?\d+)?"
TOKEN = re.compile(rf"<({NUMBER}) to ({NUMBER})>|<([^<>]+)>|(?<![\w.])({NUMBER})(?![\w.]*\w)|(\s+)")


def expected_lines(readme):
    """The lines of the first code block under the heading "Expected output"."""
    with open(readme, encoding="utf-8") as file:
        section = re.search(r"^#+ Expected output\n(.*)", file.read(), re.MULTILINE | re.DOTALL)
    block = section and re.search(r"^```\w*\n(.*?)^```", section.group(1), re.MULTILINE | re.DOTALL)
    if not block:
        sys.exit(f"{readme}: there is no code block under a heading 'Expected output'")
    return block.group(1).splitlines()


def matches(expected, line):
    """Whether a line of output is what the README expects."""
    pattern, bounds, last = "", [], 0
    for token in TOKEN.finditer(expected):
        pattern += re.escape(expected[last : token.start()])
        last = token.end()
        low, high, name, number, _ = token.groups()
        if low is not None:
            bounds.append((float(low), float(high)))
            pattern += f"({NUMBER})"
        elif name is not None:
            pattern += r".+?"
        elif number is not None:
            exact = re.fullmatch(r"[-+]?\d+", number)
            slack = 0 if exact else 0.02 * abs(float(number))
            bounds.append((float(number) - slack, float(number) + slack))
            pattern += f"({NUMBER})"
        else:
            pattern += r"\s+"
    found = re.fullmatch(pattern + re.escape(expected[last:]), line.rstrip())
    return found is not None and all(low <= float(value) <= high for value, (low, high) in zip(found.groups(), bounds))


def first_difference(expected, output):
    """The first expected line that the output lacks, or None."""
    position, any_lines = 0, False
    for line in expected:
        if line.strip() == "...":
            any_lines = True
            continue
        while any_lines and position < len(output) and not matches(line, output[position]):
            position += 1
        if position == len(output) or not matches(line, output[position]):
            return line, output[position] if position < len(output) else "(end of the output)"
        position, any_lines = position + 1, False
    return None if any_lines or position == len(output) else ("(end of the output)", output[position])


def main(readme, *command):
    expected = [line.rstrip() for line in expected_lines(readme)]
    run = subprocess.run(command, stdout=subprocess.PIPE, text=True)
    print(run.stdout)
    if run.returncode != 0:
        sys.exit(f"{command[0]} ended with exit code {run.returncode}")
    difference = first_difference(expected, run.stdout.splitlines())
    if difference:
        sys.exit(f"The output differs from {readme}.\nexpected: {difference[0]}\nfound:    {difference[1]}")
    print(f"The output is what {readme} says.")


def self_test():
    """Checks that differences are found."""
    alike = [("a  <time> ms, 2 times", "a 1.5 ms,  2 times"), ("error <0 to 1e-8>", "error 3.2e-13"),
             ("sum 1.00", "sum 1.015"), ("u0 - 1.5 u4", "u0 - 1.5 u4"), ("x-7 of 3", "x-7 of 3"), ("-2", "-2")]
    differ = [("a <time> ms", "a  ms"), ("error <0 to 1e-8>", "error 2e-8"), ("error <0 to 1e-8>", "error nan"),
              ("sum 1.00", "sum 1.03"), ("2 times", "3 times"), ("12 times", "2 times"), ("one", "two"),
              ("1.5", "-1.5"), ("2", "2.5"), ("u0", "u1")]
    for expected, line in alike + differ:
        if matches(expected, line) != ((expected, line) in alike):
            sys.exit(f"self-test: expected {expected!r}, line {line!r}")
    for expected, output, is_right in [
        (["a", "...", "c"], ["a", "b", "b", "c"], True), (["a", "..."], ["a"], True), (["a"], ["a", "b"], False),
        (["a", "...", "c"], ["a", "b"], False), (["a", "b"], ["a"], False)]:
        if (first_difference(expected, output) is None) != is_right:
            sys.exit(f"self-test: expected {expected}, output {output}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--self-test"]:
        self_test()
    elif len(sys.argv) < 3:
        sys.exit(__doc__)
    else:
        main(*sys.argv[1:])
