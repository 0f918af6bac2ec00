#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Makes C++ programs of the code in Markdown documents, so that the tests compile what readers copy:
#
#     extract_code.py --root=FOLDER --template=program.cpp.in --out=FOLDER --name=NAME DOCUMENT...
#
# Makes one program of all documents, because one is compiled sooner than many, and one more per block with a main. Prints a
# line "name|source" per program. The documents are named relative to --root. All errors are printed as
# "document:line: what is wrong", exit code 1.
"""
The rules for documents:

1. The ```cpp blocks of a document become one function, in their order. A block may use the names that the blocks before
   it declare. It may declare a name again: each block is a scope in that of the block before it.
2. The names that program.cpp.in declares (crs, x, y, ...) exist before the first block.
3. Lines with #include are moved to the top of the program.
4. A block with `int main(` is a program of its own, without the other blocks and names.
5. HTML comments, which readers do not see, are instructions. Each one begins with `<!-- cpp` at the start of a line:

   <!-- cpp: outside main -->            The next block is put before the function. It defines functions or templates.
   <!-- cpp: not compiled, REASON -->    The next block is left out. The reason is a few words.
   <!-- cpp                              The lines up to --> are code, as if they were a block. They may begin with
   CODE                                  `<!-- cpp: outside main`.
   -->

The compiler and the program name the document and the line of an error.
"""
import argparse
import dataclasses
import pathlib
import re
import sys

FENCE = re.compile(r"^([ \t]*)(`{3,}|~{3,})[ \t]*([^\s`]*)(.*)$")
COMMENT = re.compile(r"^<!--[ \t]*cpp\b[ \t]*(.*)$")
INCLUDE = re.compile(r"^[ \t]*#[ \t]*include\b")
MAIN = re.compile(r"^[ \t]*int\s+main\s*\(", re.M)


class DocumentError(Exception):
    def __init__(self, document, line, text):
        super().__init__(f"{document}:{line}: {text}")


@dataclasses.dataclass
class Block:
    first: int  # number of the first line of the code in the document
    lines: list
    outside: bool

    def is_program(self):
        return MAIN.search("\n".join(self.lines)) is not None


def instruction(document, line, text):
    """The meaning of the text after `<!-- cpp`: "code", "outside" or "skip"."""
    if text == "":
        return "code"
    if text == ": outside main":
        return "outside"
    if re.fullmatch(r": not compiled, \S.*", text):
        return "skip"
    raise DocumentError(document, line, f'"<!-- cpp{text}" is no instruction; write "<!-- cpp: outside main -->", '
                        '"<!-- cpp: not compiled, REASON -->", or "<!-- cpp" and code in the next lines.')


def blocks_of(document, text):
    """The blocks of a document that are compiled."""
    lines = text.split("\n")
    found = []
    pending = None  # instruction for the next block, and its line
    at = 0
    while at < len(lines):
        number = at + 1
        comment = COMMENT.match(lines[at])
        fence = FENCE.match(lines[at])
        at += 1
        if comment:
            if pending:
                raise DocumentError(document, pending[1], "this instruction is followed by another one, not by a ```cpp block.")
            head, closed, rest = comment.group(1).partition("-->")
            kind = instruction(document, number, head.rstrip())
            if closed:
                if rest.strip():
                    raise DocumentError(document, number, "put nothing after the --> of an instruction.")
                if kind == "code":
                    raise DocumentError(document, number, "this instruction has no code; put the code in the lines after \"<!-- cpp\".")
                pending = (kind, number)
                continue
            begin = at
            while at < len(lines) and "-->" not in lines[at]:
                at += 1
            if at == len(lines):
                raise DocumentError(document, number, 'this comment has no "-->".')
            if lines[at].strip() != "-->":
                raise DocumentError(document, at + 1, 'the "-->" of hidden code needs a line of its own.')
            if kind != "skip":
                found.append(Block(begin + 1, lines[begin:at], kind == "outside"))
            at += 1
        elif fence:
            indent, mark, language, _ = fence.groups()
            begin = at
            closing = re.compile(rf"^[ \t]*{re.escape(mark[0])}{{{len(mark)},}}[ \t]*$")
            while at < len(lines) and not closing.match(lines[at]):
                at += 1
            if at == len(lines):
                raise DocumentError(document, number, f'this block has no closing "{mark}".')
            code = [line[len(indent):] if line.startswith(indent) else line.lstrip() for line in lines[begin:at]]
            at += 1
            if language.lower() in ("c++", "cxx", "cc") or (language.lower() == "cpp" and language != "cpp"):
                raise DocumentError(document, number, f'the language of the block is "{language}"; write "cpp", so that it is tested.')
            if language == "cpp":
                kind = pending[0] if pending else "code"
                pending = None
                if kind != "skip":
                    found.append(Block(begin + 1, code, kind == "outside"))
            elif pending:
                raise DocumentError(document, pending[1], "this instruction is followed by another block, not by a ```cpp block.")
    if pending:
        raise DocumentError(document, pending[1], "no ```cpp block follows this instruction.")
    return found


def code_of(document, block, includes):
    """The text of a block for the compiler. Its lines with #include are moved to `includes`."""
    text = [f'#line {block.first} "{document}"']
    for number, line in enumerate(block.lines, block.first):
        if INCLUDE.match(line):
            includes += [f'#line {number} "{document}"', line.strip()]
            line = ""
        text.append(line)
    return text


def function(document, blocks, template, includes):
    """The function of all blocks that have no main of their own: the part of the template for one document."""
    outside, inside = [], []
    depth = 0
    for block in blocks:
        code = code_of(document, block, includes)
        if block.outside:
            outside += code
        else:
            depth += 1
            inside += [f'{{ filigree_document = "{document}:{block.first}";'] + code
    parts = {"NAMESPACE": [name_of(document)], "OUTSIDE": outside, "BLOCKS": inside + ["}" * depth]}
    return substitute(template, parts)


def substitute(template, parts):
    for name, lines in parts.items():
        template = template.replace(f"@{name}@", "\n".join(lines))
    return template


def name_of(document):
    return re.sub(r"\W", "_", re.sub(r"\.md$", "", document))


def programs(name, texts, template):
    """The programs of the documents: pairs of a name and the C++ source. `texts` are pairs of a document and its text."""
    head, of_document, tail = re.split(r"^// (?:begin|end) of a document\n", template, flags=re.M)
    includes, functions, calls = [], [], []
    for document, text in texts:
        blocks = blocks_of(document, text)
        shared = [block for block in blocks if not block.is_program()]
        if shared:
            functions.append(function(document, shared, of_document, includes))
            calls.append(f"{name_of(document)}::run();")
        for block in blocks:
            if block.is_program():
                yield (f"{name_of(document)}_line_{block.first}",
                       f'#line {block.first} "{document}"\n' + "\n".join(block.lines) + "\n")
    if functions:
        yield name, substitute(head + "".join(functions) + tail, {"INCLUDES": includes, "CALLS": calls})


def main():
    parser = argparse.ArgumentParser(description="Makes C++ programs of the code in Markdown documents.", epilog=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--root", type=pathlib.Path, required=True)
    parser.add_argument("--template", type=pathlib.Path, required=True)
    parser.add_argument("--out", type=pathlib.Path, required=True)
    parser.add_argument("--name", required=True)
    parser.add_argument("documents", nargs="*")
    arguments = parser.parse_args()
    arguments.out.mkdir(parents=True, exist_ok=True)
    failed = False
    texts = []
    for document in arguments.documents:
        text = (arguments.root / document).read_text()
        try:
            blocks_of(document, text)
            texts.append((document, text))
        except DocumentError as error:
            failed = True
            print(error, file=sys.stderr)
    if failed:
        return 1
    for name, source in programs(arguments.name, texts, arguments.template.read_text()):
        file = arguments.out / f"{name}.cpp"
        # An unchanged file keeps its time, so that it is not compiled again.
        if not file.exists() or file.read_text() != source:
            file.write_text(source)
        print(f"{name}|{file}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
