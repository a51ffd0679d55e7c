"""The instructions that the toolkit's <cuda/ptx> wraps, from the asm statements of its headers."""

import re
from pathlib import Path

from tenon_sass.errors import BadInput

_FUNCTION = re.compile(r"_CCCL_DEVICE static inline \w[\w:<> ]*?\b(\w+)\(")
_STRING = re.compile(r'"((?:[^"\\]|\\.)*)"')


def canonical(mnemonic):
    """One spelling for each instruction: .shared is .shared::cta, and a TMA copy without a mode is .tile."""
    text = re.sub(r"\.shared(?!::)", ".shared::cta", mnemonic)
    tma = re.fullmatch(r"(cp\.(?:reduce\.)?async\.bulk\.tensor\..*)", text)
    return text if not tma else text.replace(".tile.", ".").replace(".tile::", ".@tile::")


def operands_of(text):
    """Number of operands of an instruction: the commas outside of brackets, plus one."""
    rest = text.partition(" ")[2].split("//")[0].rstrip("; ")
    depth, count = 0, 1 if rest.strip() else 0
    for character in rest:
        depth += character in "[{"
        depth -= character in "]}"
        count += character == "," and depth == 0
    return count


def wrapped(include):
    """{(canonical mnemonic, number of operands): function} for the folder that holds cuda/__ptx."""
    folder = Path(include, "cuda", "__ptx", "instructions", "generated")
    if not folder.is_dir():
        raise BadInput(f"{include} has no cuda/__ptx/instructions/generated: give the include folder of libcu++")
    found = {}
    for header in sorted(folder.glob("*.h")):
        function = None
        text = re.sub(r"/\*.*?\*/", "", header.read_text(encoding="utf-8"), flags=re.DOTALL)
        for statement in re.finditer(r"_CCCL_DEVICE static inline[^{;]*?\b(\w+)\(|\basm\s*(?:volatile)?\s*\(", text):
            if statement[1]:
                function = statement[1]
                continue
            strings = []
            at = statement.end()
            while match := re.compile(r"\s*" + _STRING.pattern).match(text, at):
                strings.append(match[1].replace("\\n", "\n").replace("\\t", " "))
                at = match.end()
            # A comment ends with its string, line break or not; an instruction may continue in the next string.
            text_of_all = " ".join(line.split("//")[0] for line in "\n".join(strings).split("\n"))
            for line in (part.strip() + ";" for part in text_of_all.split(";")):
                line = re.sub(r"^[{}\s]+", "", line)
                if re.match(r"[a-z][\w]*\.[\w.:]+|elect", line) and not line.startswith((".reg", "selp")):
                    line = re.sub(r"\s+", " ", line)
                    found.setdefault((canonical(line.split()[0].rstrip(";")), operands_of(line)), function)
    return found
