#!/usr/bin/env python3
"""Trains the network that corrects the cost model (src/gemm/cost_correction.hpp).

It learns from the problems of the fitted half and prints what the choice costs in both halves; with --all it
learns from both, as the library's weights did. JAX, without a GPU, is fetched from PyPI where it is missing.
The costs are those of choices among the kernels of the table; tenon_fit_choices counts the other kernels too.
"""

import argparse
import collections
import functools
import os
import pathlib
import sys
import time

import numpy as np

sys.dont_write_bytecode = True
sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "scripts"))

from tenon_sass.errors import BadInput, NoTool  # noqa: E402  (the line above makes it importable)

MOST_CORRECTION = 1.5  # as cost_correction.hpp
FEATURES = 37  # likewise
FIRST_COLUMNS = ["problem", "machine", "group", "half", "log us", "log model", "copies"]


class Table:
    """What tenon_fit_choices --features wrote."""

    def __init__(self, path):
        with open(path, encoding="utf-8") as file:
            names = file.readline().rstrip("\n").split("\t")
            rows = [line.rstrip("\n").split("\t") for line in file]
        columns = len(FIRST_COLUMNS) + FEATURES
        if names[: len(FIRST_COLUMNS)] != FIRST_COLUMNS or not rows:
            raise ValueError(f"{path} is not a table of tenon_fit_choices --features")
        for number, row in enumerate([names, *rows], 1):
            if len(row) != columns:
                raise ValueError(f"{path}, line {number}: there are {len(row)} columns but must be {columns}")
        of_problem = collections.defaultdict(list)
        for row in rows:
            of_problem[row[0]].append(row)
        self.problems = [Problem(rows) for rows in of_problem.values() if len(rows) > 1]


class Problem:
    """The candidates of a problem, of least cost by the model first."""

    def __init__(self, rows):
        _, self.machine, self.group, self.half = rows[0][:4]
        numbers = np.array([[float(x) for x in row[4:]] for row in rows], np.float32)
        numbers = numbers[np.argsort(numbers[:, 1] + np.log1p(numbers[:, 2]), kind="stable")]
        self.times = numbers[:, 0] - numbers[:, 0].min()  # logarithms, of the fastest 0
        self.modelled = numbers[:, 1] - numbers[0, 1]  # without copies
        self.copies = numbers[:, 2]  # over the model
        self.features = numbers[:, 3:]


def evened(problems):
    """A machine of fewer records has its problems more than once: its choice counts too."""
    number = collections.Counter(problem.machine for problem in problems)
    most = max(number.values())
    return [p for p in problems for _ in range(round(np.sqrt(most / number[p.machine])))]


def regrets(problems, corrections=None):
    """Logarithms of the time of the choice over that of the fastest candidate. corrections: their logarithms, of
    features; without it, the model alone chooses."""
    ends = np.cumsum([len(p.modelled) for p in problems])
    logarithms = np.zeros(ends[-1], np.float32)
    if corrections is not None:
        logarithms = np.asarray(corrections(np.concatenate([p.features for p in problems])))
        logarithms = np.clip(logarithms, -np.log(MOST_CORRECTION), np.log(MOST_CORRECTION))
    costs = [p.modelled + np.log(np.exp(part) + p.copies) for p, part in zip(problems, np.split(logarithms, ends[:-1]))]
    return np.array([problem.times[np.argmin(cost)] for problem, cost in zip(problems, costs)])


def print_regrets(problems, corrections):
    print(f"{'machine':24} {'half':8} {'problems':>8} {'model':>8} {'mean':>8} {'95 %':>8} {'worst':>8}")
    for machine in sorted({p.machine for p in problems}):
        for half in ("fitted", "judged"):
            some = [p for p in problems if (p.machine, p.half) == (machine, half)]
            if not some:
                continue
            before, after = regrets(some), regrets(some, corrections)
            print(
                f"{machine:24} {half:8} {len(some):8} {np.exp(before.mean()):8.4f} {np.exp(after.mean()):8.4f} "
                f"{np.exp(np.percentile(after, 95)):8.4f} {np.exp(after.max()):8.4f}"
            )


def header_of(network):
    def number(x):
        text = f"{x:.5g}"
        return text + ("F" if "." in text or "e" in text else ".0F")

    def array(values):
        return "{" + ",".join(map(number, values)) + "}"

    text = (
        "// The weights of cost_correction.hpp. Written by microbench/fit_correction.py: not to be edited.\n"
        "#pragma once\n\n// clang-format off\nnamespace tenon::cost_correction_weights {\n\n"
        f"constexpr int inputs = {network[0][0].shape[0]};\n"
    )
    for name, (weights, biases) in zip(("first", "second", "last"), network):
        rows, columns = weights.shape
        text += f"constexpr float {name}_weights[{rows}][{columns}] = {{\n"
        text += ",\n".join(map(array, np.asarray(weights))) + "};\n"
        text += f"constexpr float {name}_biases[{columns}] = {array(np.asarray(biases))};\n"
    return text + "\n}  // namespace tenon::cost_correction_weights\n"


def network_by_jax():
    """The module correction_network.py, which needs JAX."""
    from tenon_toolkit import packages

    os.environ.setdefault("JAX_PLATFORMS", "cpu")  # not on a GPU that happens to be there

    try:
        import jax  # noqa: F401
    except ImportError:
        sys.path.insert(0, str(packages.of_this_python("jax", "JAX")))
    import correction_network

    return correction_network


def main():
    parser = argparse.ArgumentParser(
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
        epilog="example:\n  tenon_fit_choices results/h*00/{choices,between,named}_*.json --features features.tsv\n"
        "  fit_correction.py features.tsv --all --out ../src/gemm/cost_correction_weights.hpp\n"
        "exit status: 0 done, 1 the table cannot be read, the header not be written or JAX not be fetched, 2 bad usage",
    )
    parser.add_argument("features", help="table of tenon_fit_choices --features")
    parser.add_argument("--out", help="the header with the weights; without it nothing is written")
    parser.add_argument("--all", action="store_true", help="learn from the judged half too")
    parser.add_argument("--steps", type=int, default=18000, help="of 64 problems each (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of the first weights, the order and the noise (default %(default)s)")
    args = parser.parse_args()
    if args.steps < 1:
        parser.error(f"--steps is {args.steps} but must be at least 1")
    if not 0 <= args.seed < 2**32:
        parser.error(f"--seed is {args.seed} but must be from 0 to {2**32 - 1}")
    try:
        table = Table(args.features)
        fitted = [p for p in table.problems if args.all or p.half == "fitted"]
        if not fitted:
            raise ValueError(f"{args.features} has no {'' if args.all else 'fitted '}problem with two kernels")
        if args.out and not os.access(os.path.dirname(os.path.abspath(args.out)), os.W_OK):
            raise ValueError(f"{args.out} cannot be written")
        by_jax = network_by_jax()
        begin = time.monotonic()
        say = functools.partial(print, end="", file=sys.stderr, flush=True) if sys.stderr.isatty() else lambda text: None
        network = [tuple(np.asarray(x, np.float32) for x in layer) for layer in by_jax.train(evened(fitted), args.steps, args.seed, say)]
        if not all(np.isfinite(x).all() for layer in network for x in layer):
            raise ValueError("the training diverged: no header is written")
        print_regrets(table.problems, functools.partial(by_jax.corrections, network))
        print(f"{sum(w.size + b.size for w, b in network)} weights, {time.monotonic() - begin:.0f} s")
        if args.out:
            part = f"{args.out}.{os.getpid()}.tmp"
            with open(part, "w", encoding="utf-8") as out:
                out.write(header_of(network))
            os.replace(part, args.out)
    except (OSError, ValueError, BadInput, NoTool) as error:
        sys.exit(f"fit_correction.py: {error}")


if __name__ == "__main__":
    main()
