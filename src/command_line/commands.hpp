// The subcommands of `tenon`. Each adds itself, with its options and examples, to the application; its
// callback prints to stdout and throws Failure where it cannot go on.
#pragma once

#include <CLI/CLI.hpp>

namespace tenon::command {

void add_gemm(CLI::App& application);
void add_attention(CLI::App& application);
void add_ladder(CLI::App& application);
void add_emulate(CLI::App& application);
void add_layout(CLI::App& application);
void add_list(CLI::App& application);
void add_info(CLI::App& application);
void add_doctor(CLI::App& application);
void add_tune(CLI::App& application);
void add_precision(CLI::App& application);

}  // namespace tenon::command
